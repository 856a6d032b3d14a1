import { findApprovedById } from '@market/core/approvals'
import type { Tx } from '@market/database/transact'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { type Counted, cappedOf, NETWORK_SCOPE, payeeScopes } from '../counters/counters.ts'
import type { Hold, HoldCode } from '../hold.ts'
import type { Payout } from '../payout.ts'
import type { Caps } from '../payout-context.ts'
import { isReturnToPayer } from '../refund-transfer.ts'

/** The holds that an approval of operators ends. */
export const CAP_CODES: readonly HoldCode[] = ['payout_cap', 'payee_cap', 'daily_cap']

export type CapDecision = { readonly hold: Hold } | { readonly hold?: never; readonly counts: boolean }

/**
 * Decides under the network's lock, so that two payouts cannot use the same rest of a cap. Caps limit what leaves without an
 * operator. Money that returns to its own payer is not limited per day: otherwise anyone could use up the cap by paying
 * too much. A move to a venue stays with us, and is not limited per day either. An approved payout does not count, so that it
 * delays no other.
 */
export async function decideCaps(caps: Caps, tx: Tx, payout: Payout, counted: Counted): Promise<CapDecision> {
  const { amount } = payout
  if (amount > caps.perPayout && !(await isApproved(tx, payout))) return above('payout_cap', caps.perPayout)
  if (!(await countsAgainstCaps(tx, payout))) return { counts: false }
  if (payeeScopes(payout).some((scope) => cappedOf(counted, scope) + amount > caps.perPayee))
    return above('payee_cap', caps.perPayee)
  if (cappedOf(counted, NETWORK_SCOPE) + amount > caps.perDay) return above('daily_cap', caps.perDay)
  return { counts: true }
}

/** Whether a payout counts against the caps of a day. */
export async function countsAgainstCaps(tx: Tx, payout: Payout): Promise<boolean> {
  if (payout.kind === 'move_to_venue' || (await isApproved(tx, payout))) return false
  // fix: return-uses-no-cap
  return !(await isReturnToPayer(tx, payout))
}

/** The row only names the approval. Two operators must have approved this payout by it. */
async function isApproved(tx: Tx, { id, kind, subject, approvalId }: Payout): Promise<boolean> {
  if (approvalId === null) return false
  if (kind === 'fee_withdrawal' || kind === 'move_to_cold') return approvalId === subject
  const approved = await findApprovedById(tx, 'approve_payout', approvalId)
  // fix: approval-of-this-payout
  return (approved as { readonly payout_id: string } | undefined)?.payout_id === id
}

const above = (code: HoldCode, cap: Usdc): CapDecision => ({
  hold: { code, detail: `${formatUsd(cap)} USDC` },
})
