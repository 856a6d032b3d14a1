import { type Actor, provenWallets } from '@market/core/context'
import type { OwnWallet } from '@market/core/ports/signatures'
import { averageRating } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { BountyId, ClaimId, OrderId } from '@market/kernel/ids'
import { formatUsd } from '@market/kernel/money'
import { inferNetwork, normalizeReference } from '@market/money/payments'
import {
  type Bounty,
  type Claim,
  cancelBounty,
  claimBounty,
  getBounty,
  listBounties,
  listMyBounties,
  type MyBounty,
  type PostedClaim,
  postBounty,
  rejectClaim,
  withdrawClaim,
} from '@market/offers/bounties'
import { findOrdersOfBounties } from '@market/trade/orders'
import { claimPurpose, dueOf, listAcceptances, type NamedTransfer } from '@market/work/acceptances'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor, loadPayer } from './load-actor.ts'
import { payByTransfer } from './name-transfer.ts'
import { usedBy, withUploads } from './order-files.ts'
import { moneyOf } from './parse.ts'
import { presentWallet } from './present-agent.ts'
import { presentPayment } from './present-order.ts'
import { presentPayout } from './present-payout.ts'
import { requireAgent } from './require-actor.ts'
import { presentSummary } from './statistics.ts'

const MICROS_PER_USD = 1_000_000

const presentBountySummary = (bounty: Bounty, ctx: HandlerContext) => ({
  bounty_id: bounty.id,
  title: bounty.title,
  brief: bounty.brief,
  category: bounty.category as never,
  // The specification wants a number here. Every budget has an exact shortest form.
  budget_usd: Number(bounty.budget) / MICROS_PER_USD,
  escrow_usd: formatUsd(dueOf(bounty)),
  deadline_hours: bounty.deadlineHours,
  claim_window_hours: bounty.claimWindowHours,
  client_wallet: presentWallet(ctx, bounty.clientWallet) ?? bounty.clientWallet,
  status: bounty.status,
  pending_claims: bounty.pendingClaims,
  created_at: bounty.createdAt.toISOString(),
  updated_at: bounty.updatedAt.toISOString(),
  expires_at: bounty.expiresAt.toISOString(),
})

const presentBounty = (bounty: Bounty, ctx: HandlerContext) => ({
  ...presentBountySummary(bounty, ctx),
  reference_urls: [...bounty.referenceUrls],
  reference_images: [...bounty.referenceImages],
})

const presentClaim = (claim: Claim) => ({
  claim_id: claim.id,
  bounty_id: claim.bountyId,
  agent_id: claim.agentId,
  message: claim.message,
  status: claim.status,
  created_at: claim.createdAt.toISOString(),
  expires_at: claim.expiresAt.toISOString(),
  ended_at: claim.endedAt?.toISOString() ?? null,
})

const presentPostedClaim = (
  { claim, agent, payableOn }: PostedClaim,
  bounty: Bounty,
  ctx: HandlerContext,
) => ({
  ...presentClaim(claim),
  agent: {
    ...presentSummary(agent),
    completed_orders: agent.completedOrders,
    avg_rating: averageRating(agent),
  },
  payment: presentPayment(ctx, payableOn, dueOf(bounty)),
})

const presentTransfer = ({ acceptance, refund }: NamedTransfer) => ({
  claim_id: acceptance.claimId,
  network: acceptance.network,
  escrow_tx_hash: acceptance.reference,
  status: acceptance.status,
  confirmations: acceptance.confirmations,
  required: acceptance.required,
  refund: presentPayout(refund),
  created_at: acceptance.createdAt.toISOString(),
})

type Orders = ReadonlyMap<string, OrderId>

/** Only the two parties of the order learn its id. */
const presentOwn = ({ bounty, isPoster, claims }: MyBounty, orders: Orders, ctx: HandlerContext) => {
  const isParty = isPoster || claims.some(({ status }) => status === 'accepted')
  return {
    ...presentBounty(bounty, ctx),
    order_id: isParty ? (orders.get(bounty.id) ?? null) : null,
    my_claims: claims.map(presentClaim),
  }
}

/** `client_wallet` must be proven by the request, or belong to the owner of the agent whose API key it has. */
function ownWallet(ctx: HandlerContext, actor: Actor, requested: string): OwnWallet {
  const key = ctx.signatures.parseWallet(requested)?.key
  const wallet = [...provenWallets(actor), ...ownersOf(ctx)].find((one) => one.key === key)
  if (wallet !== undefined) return wallet
  throw new ApiError(
    'invalid',
    'client_wallet is not proven to be yours. Sign this request with it, or link it to your account.',
    {
      code: 'wallet_not_proven',
      details: [{ path: 'client_wallet', message: 'must sign the request or be linked to the account' }],
    },
  )
}

/** Not the wallets that are linked to the owner's account: an API key must not find out which these are. */
function ownersOf({ caller }: HandlerContext): OwnWallet[] {
  const { ownerWallet, ownerProvenBy } = caller.agent ?? { ownerWallet: null, ownerProvenBy: null }
  return ownerWallet === null ? [] : [{ key: ownerWallet, provenBy: ownerProvenBy ?? 'base-mainnet' }]
}

export const bountyHandlers = {
  createBounty: handler('createBounty', {
    run: async (ctx, input) => {
      const actor = await loadActor(ctx)
      const client = ownWallet(ctx, actor, input.client_wallet)
      const references = [...input.reference_urls, ...input.reference_images]
      const files = await withUploads(ctx, references, usedBy({ usedFor: 'reference', isPrivate: false }))
      const wanted = {
        title: input.title,
        brief: input.brief,
        category: input.category,
        budget: moneyOf(input.budget_usd),
        deadlineHours: input.deadline_hours,
        claimWindowHours: input.claim_window_hours,
        referenceUrls: input.reference_urls.map(files.urlOf),
        referenceImages: input.reference_images.map(files.urlOf),
      }
      return postBounty(files.ctx, actor, wanted, client, ctx.caller.agent?.apiKeyHint)
    },
    present: (bounty, ctx) => ({ data: presentBounty(bounty, ctx) }),
  }),

  listBounties: handler('listBounties', {
    run: (ctx, { min_budget, max_budget, ...query }) =>
      listBounties(ctx, {
        ...query,
        minBudget: min_budget === undefined ? undefined : moneyOf(min_budget),
        maxBudget: max_budget === undefined ? undefined : moneyOf(max_budget),
      }),
    present: ({ bounties, nextCursor, total }, ctx) => ({
      data: bounties.map((bounty) => presentBountySummary(bounty, ctx)),
      next_cursor: nextCursor,
      total,
    }),
  }),

  listMyBounties: handler('listMyBounties', {
    run: async (ctx, input) => {
      const page = await listMyBounties(ctx, await loadActor(ctx), input)
      const ids = page.found.map(({ bounty }) => bounty.id)
      return { ...page, orders: await findOrdersOfBounties(ctx.db, ids) }
    },
    present: ({ found, orders, nextCursor, total }, ctx) => ({
      data: found.map((one) => ({
        ...presentOwn(one, orders, ctx),
        role: one.isPoster ? ('poster' as const) : ('claimant' as const),
      })),
      next_cursor: nextCursor,
      total,
    }),
  }),

  getBounty: handler('getBounty', {
    run: async (ctx, input) => {
      const id = input.bounty_id as BountyId
      const view = await getBounty(ctx, await loadActor(ctx), id, input.include_claims)
      const transfers = view.claims === undefined ? undefined : await listAcceptances(ctx, id)
      return { ...view, transfers, orders: await findOrdersOfBounties(ctx.db, [id]) }
    },
    present: ({ bounty, isPoster, claims, transfers, own, orders }, ctx) => ({
      data: {
        ...presentOwn({ bounty, isPoster, claims: own }, orders, ctx),
        role: isPoster ? ('poster' as const) : own.length > 0 ? ('claimant' as const) : ('reader' as const),
        claims: claims?.map((claim) => presentPostedClaim(claim, bounty, ctx)) ?? null,
        transfers: transfers?.map(presentTransfer) ?? null,
      },
    }),
  }),

  cancelBounty: handler('cancelBounty', {
    run: async (ctx, input) =>
      cancelBounty(ctx, await loadActor(ctx), input.bounty_id as BountyId, ctx.caller.agent?.apiKeyHint),
    present: (bounty, ctx) => ({ data: presentBounty(bounty, ctx) }),
  }),

  claimBounty: handler('claimBounty', {
    run: (ctx, { bounty_id, message }) => {
      const { id, apiKeyHint } = requireAgent(ctx)
      return claimBounty(ctx, id, { bountyId: bounty_id as BountyId, message }, apiKeyHint)
    },
    present: (claim) => ({ data: presentClaim(claim) }),
  }),

  withdrawClaim: handler('withdrawClaim', {
    run: (ctx, input) => {
      const { id, apiKeyHint } = requireAgent(ctx)
      return withdrawClaim(ctx, id, input.bounty_id as BountyId, apiKeyHint)
    },
    present: (claim) => ({ data: presentClaim(claim) }),
  }),

  rejectClaim: handler('rejectClaim', {
    run: async (ctx, input) => {
      const claim = { bountyId: input.bounty_id as BountyId, claimId: input.claim_id as ClaimId }
      return rejectClaim(ctx, await loadActor(ctx), claim, ctx.caller.agent?.apiKeyHint)
    },
    present: (claim) => ({ data: presentClaim(claim) }),
  }),

  acceptClaim: handler('acceptClaim', {
    run: async (ctx, input) => {
      const actor = await loadPayer(ctx)
      ownWallet(ctx, actor, input.client_wallet)
      const network = input.payment_network ?? inferNetwork(input.escrow_tx_hash)
      const wanted = {
        bountyId: input.bounty_id as BountyId,
        claimId: input.claim_id as ClaimId,
        network,
        reference: normalizeReference(network, input.escrow_tx_hash),
      }
      return payByTransfer(ctx, actor, claimPurpose, wanted)
    },
    present: ({ acceptance: { bountyId, orderId, claimId } }) => ({
      data: { bounty_id: bountyId, order_id: orderId, claim_id: claimId },
      isLater: orderId === null,
    }),
  }),
}
