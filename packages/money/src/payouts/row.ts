import type { Tables } from '@market/database/tables'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Selectable } from 'kysely'
import { parsePurpose, parseTransferName } from '../payments/index.ts'
import type { HoldCode } from './hold.ts'
import type { Payout, PayoutId, PayoutKind, Unmatched } from './payout.ts'
import type { PayoutState } from './states.ts'

export const payoutOf = (row: Selectable<Tables['payouts']>): Payout => ({
  id: row.id as PayoutId,
  network: row.network as Network,
  kind: row.kind as PayoutKind,
  subject: row.subject,
  purpose: row.purpose === null ? null : parsePurpose(row.purpose),
  unmatched: unmatchedOf(row),
  payee: row.payee,
  amount: usdc(row.amount_micros),
  state: row.state as PayoutState,
  holdCode: row.hold_code as HoldCode | null,
  holdDetail: row.hold_detail,
  reason: row.reason,
  round: row.round,
  markRound: row.mark_round,
  finalReference: row.final_reference,
  agentId: row.agent_id as AgentId | null,
  approvalId: row.approval_id,
  countsAgainstCaps: row.counts_against_caps,
  countedAt: row.counted_at,
  opensAccount: row.opens_account,
  notifiedAgent: row.notified_agent as AgentId | null,
  notBefore: row.not_before,
  contestedAt: row.contested_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

function unmatchedOf(row: Selectable<Tables['payouts']>): Unmatched | null {
  if (row.unmatched_transfer === null) return null
  const from = row.unmatched_from as Unmatched['from']
  return { network: row.network as Network, ...parseTransferName(row.unmatched_transfer), from }
}
