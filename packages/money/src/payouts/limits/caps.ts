import { findApprovedById } from '@market/core/approvals'
import type { Tx } from '@market/database/transact'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { type Counted, cappedOf, dayScope, payeeScopes } from '../counters/counters.ts'
import { isReturnToPayer } from '../funding-transfer.ts'
import type { Hold, HoldCode } from '../hold.ts'
import type { Payout } from '../payout.ts'
import type { PayoutContext } from '../payout-context.ts'

/** The holds that an approval of operators ends. */
export const CAP_CODES: readonly HoldCode[] = ['payout_cap', 'payee_cap', 'daily_cap']

type Kinds = Pick<PayoutContext, 'payoutKinds'>

export type CapDecision = { readonly hold: Hold } | { readonly hold?: never; readonly counts: boolean }

/**
 * Decides under the network's lock, so that two payouts cannot use the same rest of a cap. Caps limit what leaves without an
 * operator. Money that returns to its own payer is not limited per day: otherwise anyone could use up the cap by paying
 * too much. A move to a venue stays with us, and is not limited per day either. An approved payout does not count, so that it
 * delays no other.
 */
export async function decideCaps(
  ctx: Pick<PayoutContext, 'caps' | 'payoutKinds'>,
  tx: Tx,
  payout: Payout,
  counted: Counted,
): Promise<CapDecision> {
  const { caps } = ctx
  const { amount } = payout
  if (amount > caps.perPayout && !(await isApproved(ctx, tx, payout)))
    return above('payout_cap', caps.perPayout)
  if (!(await countsAgainstCaps(ctx, tx, payout))) return { counts: false }
  if (payeeScopes(payout).some((scope) => cappedOf(counted, scope) + amount > caps.perPayee))
    return above('payee_cap', caps.perPayee)
  if (cappedOf(counted, dayScope(payout)) + amount > caps.perDay) return above('daily_cap', caps.perDay)
  return { counts: true }
}

/** Whether a payout counts against the caps of a day. */
export async function countsAgainstCaps(ctx: Kinds, tx: Tx, payout: Payout): Promise<boolean> {
  const { capped, isReturned = isReturnToPayer } = ctx.payoutKinds[payout.kind]
  if (capped === 'never' || (await isApproved(ctx, tx, payout))) return false
  // fix: return-uses-no-cap
  return capped !== 'unless_returned' || !(await isReturned(tx, payout))
}

/** The row only names the approval. Two operators must have approved this payout by it. */
async function isApproved(ctx: Kinds, tx: Tx, payout: Payout): Promise<boolean> {
  const { id, kind, subject, approvalId } = payout
  if (approvalId === null) return false
  if (ctx.payoutKinds[kind].capped === 'approved') return approvalId === subject
  const approved = await findApprovedById(tx, 'approve_payout', approvalId)
  // fix: approval-of-this-payout
  return (approved as { readonly payout_id: string } | undefined)?.payout_id === id
}

const above = (code: HoldCode, cap: Usdc): CapDecision => ({
  hold: { code, detail: `${formatUsd(cap)} USDC` },
})
