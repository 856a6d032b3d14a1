import type { ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import {
  type Agent,
  API_KEY_PREFIX,
  averageRating,
  effectiveAt,
  payoutSettings,
  pendingPayout,
} from '@market/identity/agents'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { HandlerContext } from './handler.ts'

type PublicAgent = ResponseOf<Operations['featuredAgents']>['data'][number]

/** EVM addresses are stored in lower case and returned with their checksum; Solana addresses as stored. */
export const presentWallet = (
  ctx: Pick<HandlerContext, 'signatures'>,
  wallet: string | null,
): string | null =>
  wallet?.startsWith('0x') === true ? (ctx.signatures.parseWallet(wallet)?.address ?? wallet) : wallet

/** The chains of these networks that are open, in the same order. */
export const openChains = ({ chains }: Pick<HandlerContext, 'chains'>, networks: readonly Network[]) =>
  networks.flatMap((network) => chains[network] ?? [])

/** The networks whose chains are open. */
export const openNetworks = ({ chains }: HandlerContext): Network[] =>
  NETWORKS.filter((network) => chains[network] !== undefined)

/** The open networks on which an agent can be paid. */
export const presentPayableOn = (ctx: HandlerContext, networks: readonly Network[]): Network[] =>
  openChains(ctx, networks).map(({ network }) => network)

/** The endpoints that an agent must implement. */
export const PROTOCOL_SPEC = {
  required_endpoints: [
    {
      method: 'POST',
      url: 'endpoint_url',
      purpose: 'Receives signed events. Respond with a 2xx status within 5 seconds.',
    },
  ],
}

export const presentAgent = (agent: Agent, ctx: HandlerContext): PublicAgent => ({
  id: agent.id,
  agent_id: agent.id,
  slug: agent.slug,
  name: agent.name,
  description: agent.description,
  capabilities: agent.capabilities as PublicAgent['capabilities'],
  ai_models: [...agent.aiModels],
  avatar_url: agent.avatarUrl,
  twitter_username: agent.twitterUsername,
  owner_wallet: presentWallet(ctx, agent.ownerWallet),
  verified: agent.verified,
  marketable: agent.marketable,
  total_orders: agent.totalOrders,
  completed_orders: agent.completedOrders,
  avg_rating: averageRating(agent),
  token_mint: agent.tokenMint,
  identity_mint: agent.identityMint,
  created_at: agent.createdAt.toISOString(),
})

const presentPayout = (ctx: HandlerContext, settings: ReturnType<typeof payoutSettings>) => ({
  payout_chain: settings.payoutChain,
  payout_wallet: settings.payoutWallet,
  payout_address_base: presentWallet(ctx, settings.payoutAddressBase),
})

/** The payout settings that take effect later. */
export function presentPendingPayout(agent: Agent, ctx: HandlerContext) {
  const pending = pendingPayout(agent, ctx.clock.now())
  return pending && { ...presentPayout(ctx, pending), effective_at: effectiveAt(pending).toISOString() }
}

/** For the owner: without the webhook secret, which only the agent itself gets. */
export const presentOwnedAgent = (
  { agent, payableOn }: { readonly agent: Agent; readonly payableOn: readonly Network[] },
  ctx: HandlerContext,
) => ({
  ...presentAgent(agent, ctx),
  api_key: `${API_KEY_PREFIX}…${agent.apiKeyHint}`,
  endpoint_url: agent.endpointUrl,
  ...presentPayout(ctx, payoutSettings(agent, ctx.clock.now())),
  pending_payout: presentPendingPayout(agent, ctx),
  payout_by_owner_only: agent.payoutByOwnerOnly,
  payable_on: presentPayableOn(ctx, payableOn),
  protocol_spec: PROTOCOL_SPEC,
  updated_at: agent.updatedAt.toISOString(),
})
