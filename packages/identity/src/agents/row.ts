import type { WalletChain, WalletEvidence } from '@market/core/ports/signatures'
import type { Tables } from '@market/database/tables'
import { earlier } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Agent } from './agent.ts'
import { PAYOUT_DELAY_MS, type PayoutEditor, type PayoutState } from './payout/payout-settings.ts'

/** All columns except those that only queries use: `search`, the skeletons of the name and the fingerprint of the API key. */
export const AGENT_COLUMNS = [
  'id',
  'name',
  'slug',
  'description',
  'capabilities',
  'ai_models',
  'avatar_url',
  'endpoint_url',
  'endpoint_proven_at',
  'owner_user_id',
  'owner_wallet',
  'owner_proven_by',
  'owner_wallet_effective_at',
  'twitter_username',
  'verified',
  'marketable',
  'payout_chain',
  'payout_wallet',
  'payout_address_base',
  'pending_payout_chain',
  'pending_payout_wallet',
  'pending_payout_address_base',
  'pending_payout_since',
  'pending_payout_by',
  'payout_by_owner_only',
  'api_key_hint',
  'api_key_sealed',
  'api_key_replaced_at',
  'webhook_secret_sealed',
  'previous_webhook_secret_sealed',
  'webhook_secret_replaced_at',
  'total_orders',
  'completed_orders',
  'rating_sum',
  'rating_count',
  'token_mint',
  'identity_mint',
  'renamed_at',
  'previous_name',
  'last_seen_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Tables['agents'])[]

type AgentRow = Pick<Selectable<Tables['agents']>, (typeof AGENT_COLUMNS)[number]>

export const agentOf = (row: AgentRow): Agent => ({
  id: row.id as AgentId,
  name: row.name,
  slug: row.slug,
  description: row.description,
  capabilities: row.capabilities,
  aiModels: row.ai_models,
  avatarUrl: row.avatar_url,
  endpointUrl: row.endpoint_url,
  endpointProvenAt: row.endpoint_proven_at,
  ownerUserId: row.owner_user_id,
  ownerWallet: row.owner_wallet,
  ownerProvenBy: row.owner_proven_by as WalletEvidence | null,
  ownerWalletEffectiveAt: row.owner_wallet_effective_at,
  twitterUsername: row.twitter_username,
  verified: row.verified,
  marketable: row.marketable,
  payout: payoutOf(row),
  payoutByOwnerOnly: row.payout_by_owner_only,
  apiKeyHint: row.api_key_hint,
  apiKeySealed: row.api_key_sealed,
  apiKeyReplacedAt: row.api_key_replaced_at,
  webhookSecretSealed: row.webhook_secret_sealed,
  previousWebhookSecret: previousSecretOf(row),
  totalOrders: row.total_orders,
  completedOrders: row.completed_orders,
  ratingSum: row.rating_sum,
  ratingCount: row.rating_count,
  tokenMint: row.token_mint,
  identityMint: row.identity_mint,
  renamedAt: row.renamed_at,
  previousName: row.previous_name,
  lastSeenAt: row.last_seen_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

function previousSecretOf(row: AgentRow): Agent['previousWebhookSecret'] {
  const { previous_webhook_secret_sealed: sealed, webhook_secret_replaced_at: replacedAt } = row
  return sealed === null || replacedAt === null ? null : { sealed, replacedAt }
}

function payoutOf(row: AgentRow): PayoutState {
  const settings = {
    payoutChain: row.payout_chain as WalletChain | null,
    payoutWallet: row.payout_wallet,
    payoutAddressBase: row.payout_address_base,
  }
  if (row.pending_payout_since === null) return { settings, pending: null }
  const pending = {
    payoutChain: row.pending_payout_chain as WalletChain | null,
    payoutWallet: row.pending_payout_wallet,
    payoutAddressBase: row.pending_payout_address_base,
    since: row.pending_payout_since,
    by: row.pending_payout_by as PayoutEditor,
  }
  return { settings, pending }
}

export const payoutColumns = ({ settings, pending }: PayoutState) => ({
  payout_chain: settings.payoutChain,
  payout_wallet: settings.payoutWallet,
  payout_address_base: settings.payoutAddressBase,
  pending_payout_chain: pending?.payoutChain ?? null,
  pending_payout_wallet: pending?.payoutWallet ?? null,
  pending_payout_address_base: pending?.payoutAddressBase ?? null,
  pending_payout_since: pending?.since ?? null,
  pending_payout_by: pending?.by ?? null,
})

const PAYOUT_COLUMNS = ['payout_chain', 'payout_wallet', 'payout_address_base'] as const

/** The agents with the settings of `payoutSettings` at this time, for queries of other modules. */
export function agentsPaidAt(now: Date): RawBuilder<unknown> {
  const isDue = sql`pending_payout_since <= ${earlier(now, PAYOUT_DELAY_MS)}`
  const settings = PAYOUT_COLUMNS.map(
    (name) =>
      sql`case when ${isDue} then ${sql.ref(`pending_${name}`)} else ${sql.ref(name)} end as ${sql.ref(name)}`,
  )
  return sql`(select id, owner_wallet, owner_proven_by, ${sql.join(settings)} from agents)`
}
