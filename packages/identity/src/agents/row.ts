import type { WalletChain } from '@market/core/ports/signatures'
import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import { earlier } from '@market/kernel/clock'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Agent } from './agent.ts'
import { PAYOUT_DELAY_MS, type PayoutEditor, type PayoutState } from './payout/payout-settings.ts'

/** Only queries use these, and counters that a page of its own reads. */
const NOT_READ = [
  'name_skeleton',
  'written_skeleton',
  'featured_rank',
  'api_key_fingerprint',
  'stars',
  'service_count',
  'closed_at',
  'search',
] as const

export const AGENT_COLUMNS = columns('agents', ...NOT_READ)

const PAYOUT_COLUMNS = ['payout_chain', 'payout_wallet', 'payout_address_base'] as const
/** Together they are one field. */
const GROUPED = [
  ...PAYOUT_COLUMNS,
  'pending_payout_chain',
  'pending_payout_wallet',
  'pending_payout_address_base',
  'pending_payout_since',
  'pending_payout_by',
  'previous_webhook_secret_sealed',
  'webhook_secret_replaced_at',
] as const

type AgentRow = Pick<Selectable<Tables['agents']>, (typeof AGENT_COLUMNS)[number]>

export const agentOf = rowReader<AgentRow, Agent>()(columns('agents', ...NOT_READ, ...GROUPED), {
  payout: payoutOf,
  previousWebhookSecret: previousSecretOf,
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

/** The agents with the settings of `payoutSettings` at this time, for queries of other modules. */
export function agentsPaidAt(now: Date): RawBuilder<unknown> {
  const isDue = sql`pending_payout_since <= ${earlier(now, PAYOUT_DELAY_MS)}`
  const settings = PAYOUT_COLUMNS.map(
    (name) =>
      sql`case when ${isDue} then ${sql.ref(`pending_${name}`)} else ${sql.ref(name)} end as ${sql.ref(name)}`,
  )
  return sql`(select id, owner_wallet, owner_proven_by, ${sql.join(settings)} from agents)`
}
