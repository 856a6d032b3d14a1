import { walletsOf } from '@market/identity/accounts'
import {
  averageRating,
  featuredAgents,
  getAgent,
  linkAgent,
  listAgents,
  listModels,
  type Owner,
  openWebhookSecret,
  payableNetworks,
  type Registered,
  recoverAgents,
  registerAgent,
  updateAgent,
} from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { NOTHING_FOLLOWS } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import { newestListings } from '@market/offers/listings'
import { newestReviews } from '@market/trade/reviews'
import { newestPortfolio } from '@market/work/portfolio'
import { requirePayoutRight, webhookSecretFor } from './connected-program.ts'
import { type HandlerContext, handler } from './handler.ts'
import { twoCredentials } from './identify.ts'
import { fetchIdentityClaims, ownerOf } from './owner-of.ts'
import { presentEntry } from './portfolio.ts'
import { openNetworks, PROTOCOL_SPEC, presentAgent, presentOwnedAgent } from './present-agent.ts'
import { presentReview } from './present-review.ts'
import { presentServiceSummary } from './present-service.ts'
import { requireAgent } from './require-actor.ts'

const HIDDEN_NOTE =
  'This agent is hidden until it has an owner. Sign PATCH /api/agents/me with the owner’s wallet, or link it to your account with POST /api/agents/link.'

/** All are listed by GET /api/agents/{agent_id}/services. */
const MAX_SERVICES = 50
/** All are listed by GET /api/agents/{agent_id}/reviews. */
const MAX_REVIEWS = 5
const MAX_ENTRIES = 6

const WALLET_NOTE =
  'The agent’s wallet, held by the marketplace. It needs no funds before you launch a token.'

export const presentRegistered = ({ agent, apiKey, webhookSecret, solanaAddress }: Registered) => ({
  data: {
    agent_id: agent.id,
    slug: agent.slug,
    api_key: apiKey,
    webhook_secret: webhookSecret,
    twitter_username: agent.twitterUsername,
    marketable: agent.marketable,
    protocol_spec: PROTOCOL_SPEC,
    wallet: { solana_address: solanaAddress, note: WALLET_NOTE },
    ...(agent.marketable ? {} : { note: HIDDEN_NOTE }),
  },
})

/** The owner of a new agent. An anonymous caller's `owner_wallet` is ignored, because it is not signed. */
async function registeringOwner(ctx: HandlerContext, ownerWallet: string | undefined) {
  const { actor } = ctx
  switch (actor.kind) {
    case 'wallet': {
      const parsed = ownerWallet === undefined ? actor.wallet : ctx.signatures.parseWallet(ownerWallet)
      if (parsed?.key !== actor.wallet.key) throw walletMismatch()
      return { kind: 'wallet' as const, wallet: actor.wallet }
    }
    case 'user': {
      const profile = await fetchIdentityClaims(ctx)
      requireLinkedCosigner(ctx, walletsOf(profile, ctx.signatures))
      // fix: owner-wallet-of-user
      const wallet = cosigningOwner(ctx, ownerWallet)
      return { kind: 'user' as const, profile, wallet }
    }
    default:
      return { kind: 'none' as const }
  }
}

/** A user and a wallet that sign one request are one person only when the wallet is linked to the account. */
function requireLinkedCosigner({ actor, caller }: HandlerContext, linked: Owner['wallets']): void {
  const { cosigner } = caller
  if (actor.kind !== 'user' || cosigner === undefined) return
  if (!linked.some(({ key }) => key === cosigner.key)) throw twoCredentials()
}

const walletMismatch = (): ApiError =>
  new ApiError(
    'invalid',
    'owner_wallet is not the wallet that signed this request. Sign with owner_wallet.',
    {
      details: [{ path: 'owner_wallet', message: 'must be the wallet that signed the request' }],
    },
  )

/** Setting an owner wallet needs the wallet's signature beside the API key or the access token. */
function cosigningOwner(ctx: HandlerContext, ownerWallet: string | undefined) {
  if (ownerWallet === undefined) return undefined
  const cosigner = ctx.actor.kind === 'wallet' ? ctx.actor.wallet : ctx.caller.cosigner
  if (cosigner === undefined) {
    throw new ApiError(
      'unauthenticated',
      'owner_wallet needs the signature of that wallet. Send wallet, wallet_sig and wallet_sig_ts.',
      {
        code: 'signature_missing',
      },
    )
  }
  if (ctx.signatures.parseWallet(ownerWallet)?.key !== cosigner.key) throw walletMismatch()
  return cosigner
}

interface ChangeFields {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly capabilities?: readonly string[] | undefined
  readonly ai_models?: readonly string[] | undefined
  readonly avatar_url?: string | null | undefined
  readonly endpoint_url?: string | null | undefined
  readonly payout_chain?: 'solana' | 'base' | null | undefined
  readonly payout_wallet?: string | null | undefined
  readonly payout_address_base?: string | null | undefined
  readonly payout_by_owner_only?: boolean | undefined
}

const changeOf = (input: ChangeFields) => ({
  name: input.name,
  description: input.description,
  capabilities: input.capabilities,
  aiModels: input.ai_models,
  avatarUrl: input.avatar_url,
  endpointUrl: input.endpoint_url,
  payoutChain: input.payout_chain,
  payoutWallet: input.payout_wallet,
  payoutAddressBase: input.payout_address_base,
  payoutByOwnerOnly: input.payout_by_owner_only,
})

export const agentHandlers = {
  registerAgent: handler('registerAgent', {
    run: async (ctx, input) =>
      registerAgent(ctx, {
        name: input.name,
        description: input.description,
        capabilities: input.capabilities,
        aiModels: input.ai_models,
        endpointUrl: input.endpoint_url,
        avatarUrl: input.avatar_url,
        owner: await registeringOwner(ctx, input.owner_wallet),
      }),
    present: presentRegistered,
  }),

  recoverAgents: handler('recoverAgents', {
    run: async (ctx, input) => {
      const claimant =
        ctx.actor.kind === 'wallet'
          ? { kind: 'wallet' as const, wallet: ctx.actor.wallet }
          : { kind: 'user' as const, profile: await fetchIdentityClaims(ctx) }
      return recoverAgents(ctx, claimant, input.agent_name)
    },
    present: (recovered) => ({
      data: {
        agents: recovered.map(({ agent, apiKey }) => ({
          agent_id: agent.id,
          slug: agent.slug,
          name: agent.name,
          description: agent.description,
          api_key: apiKey,
          twitter_username: agent.twitterUsername,
          verified: agent.verified,
          created_at: agent.createdAt.toISOString(),
        })),
      },
    }),
  }),

  linkAgent: handler('linkAgent', {
    run: async (ctx, input) => linkAgent(ctx, await fetchIdentityClaims(ctx), input.api_key),
    present: (linked, ctx) => ({ data: presentOwnedAgent(linked, ctx) }),
  }),

  getMyAgent: handler('getMyAgent', {
    run: async (ctx) => {
      const agent = requireAgent(ctx)
      const payableOn = await payableNetworks(ctx, ctx.db, agent, openNetworks(ctx))
      return { agent, webhookSecret: await openWebhookSecret(ctx, agent), payableOn }
    },
    present: (own, ctx) => ({
      data: { ...presentOwnedAgent(own, ctx), webhook_secret: webhookSecretFor(ctx, own.webhookSecret) },
    }),
  }),

  updateMyAgent: handler('updateMyAgent', {
    run: async (ctx, input) => {
      requirePayoutRight(ctx, input)
      return updateAgent(ctx, requireAgent(ctx).id, changeOf(input), {
        editor: 'itself',
        keyHint: requireAgent(ctx).apiKeyHint,
        newOwner: cosigningOwner(ctx, input.owner_wallet),
      })
    },
    present: (own, ctx) => ({
      data: { ...presentOwnedAgent(own, ctx), webhook_secret: webhookSecretFor(ctx, own.webhookSecret) },
    }),
  }),

  updateAgent: handler('updateAgent', {
    run: async (ctx, input) => {
      const id = input.agent_id as AgentId
      const itself = ctx.actor.kind === 'agent' && ctx.actor.agentId === id
      const newOwner = cosigningOwner(ctx, input.owner_wallet)
      if (itself) {
        const { apiKeyHint: keyHint } = requireAgent(ctx)
        return updateAgent(ctx, id, changeOf(input), { editor: 'itself', keyHint, newOwner })
      }
      const editor = await ownerOf(ctx)
      requireLinkedCosigner(ctx, editor.wallets)
      return updateAgent(ctx, id, changeOf(input), { editor, newOwner })
    },
    present: (owned, ctx) => ({ data: presentOwnedAgent(owned, ctx) }),
  }),

  listAgents: handler('listAgents', {
    run: async (ctx, input) => {
      const owner =
        input.owner_wallet === undefined ? undefined : ctx.signatures.parseWallet(input.owner_wallet)
      if (input.owner_wallet !== undefined && owner === undefined)
        return { agents: [], nextCursor: NOTHING_FOLLOWS }
      const signer = ctx.actor.kind === 'wallet' ? ctx.actor.wallet.key : undefined
      if (signer !== undefined && owner !== undefined && signer !== owner.key) {
        throw new ApiError(
          'forbidden',
          'The signature is not from owner_wallet. Sign with owner_wallet, or omit the signature.',
          {
            code: 'wrong_wallet',
          },
        )
      }
      return listAgents(ctx, {
        search: input.search,
        sort: input.sort,
        category: input.category,
        model: input.model,
        withServices: input.services === 'with',
        tokenized: input.tokenized,
        ownerWallet: owner?.key,
        includeHidden: owner !== undefined && signer === owner.key,
        limit: input.limit,
        cursor: input.cursor,
      })
    },
    present: ({ agents, nextCursor }, ctx) => ({
      data: agents.map((agent) => presentAgent(agent, ctx)),
      next_cursor: nextCursor,
    }),
  }),

  featuredAgents: handler('featuredAgents', {
    run: (ctx, input) => featuredAgents(ctx, input),
    present: ({ agents, nextCursor }, ctx) => ({
      data: agents.map((agent) => presentAgent(agent, ctx)),
      next_cursor: nextCursor,
    }),
  }),

  getAgent: handler('getAgent', {
    run: async (ctx, input) => {
      const agent = await getAgent(ctx, input.agent_id)
      const [listings, portfolio, reviews] = await Promise.all([
        newestListings(ctx, agent.id, MAX_SERVICES),
        newestPortfolio(ctx, agent.id, MAX_ENTRIES),
        newestReviews(ctx, agent.id, MAX_REVIEWS),
      ])
      return { agent, listings, portfolio, reviews }
    },
    present: ({ agent, listings, portfolio, reviews }, ctx) => ({
      data: {
        agent: presentAgent(agent, ctx),
        services: listings.map(presentServiceSummary),
        portfolio: portfolio.map(presentEntry),
        reviews: reviews.map(presentReview),
        stats: {
          total_orders: agent.totalOrders,
          completed_orders: agent.completedOrders,
          avg_rating: averageRating(agent),
          review_count: agent.ratingCount,
        },
      },
    }),
  }),

  listModels: handler('listModels', {
    run: (ctx, input) => listModels(ctx, input),
    present: ({ models, nextCursor }) => ({ data: models, next_cursor: nextCursor }),
  }),
}
