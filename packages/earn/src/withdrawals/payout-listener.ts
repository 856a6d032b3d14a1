import type { Needs } from '@market/core/context'
import type { Venues } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import { ZERO } from '@market/kernel/money'
import { type Payout, type PayoutListener, type PayoutTerms, redirectedPayees } from '@market/money/payouts'
import { findPayers } from '../deposits/index.ts'
import { findPool } from '../pools/index.ts'
import { venueTransferTerms } from '../venue-transfers/index.ts'
import { fillSubject } from './settle-withdrawals.ts'
import { findFills, findWithdrawal } from './store.ts'

/** The part of a withdrawal, to its destination, which paid one of the holder's deposits, or to where two operators sent it. */
async function fillTerms(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<PayoutTerms> {
  const { network, subject } = payout
  const none = { network, amount: ZERO, payees: [] }
  const id = subject.slice(0, subject.lastIndexOf(':'))
  const fill = (await findFills(tx, [id])).find(({ n }) => fillSubject(id, n) === subject)
  const withdrawal = await findWithdrawal(tx, id)
  if (fill === undefined || withdrawal === undefined) return none
  const pool = await findPool(tx, withdrawal.poolKey)
  const payers = await findPayers(tx, withdrawal, ctx.clock.now())
  if (pool === undefined || !payers.includes(withdrawal.destination)) return none
  const payees = [withdrawal.destination, ...(await redirectedPayees(tx, payout))]
  return { network: pool.network, amount: fill.amount, payees }
}

/** Says what the payouts of Earn must be. `others` listens to those of all other kinds. */
export function earnPayoutListener(venues: Venues, others: PayoutListener): PayoutListener {
  return {
    ...others,
    termsOf(ctx, tx, payout) {
      if (payout.kind === 'move_to_venue') return venueTransferTerms(venues, tx, payout)
      if (payout.kind === 'earn_withdrawal') return fillTerms(ctx, tx, payout)
      return others.termsOf(ctx, tx, payout)
    },
  }
}
