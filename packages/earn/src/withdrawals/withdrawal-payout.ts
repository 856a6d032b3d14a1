import { type PayoutRule, redirectedPayees } from '@market/money/payouts'
import { findPayers } from '../deposits/index.ts'
import { findPool } from '../pools/index.ts'
import { findFillOf, findWithdrawal } from './store.ts'

/** The part of a withdrawal, to its destination, which paid one of the holder's deposits, or to where two operators sent it. */
export const withdrawalPayout: PayoutRule = {
  capped: 'always',
  async terms(ctx, tx, payout) {
    const fill = await findFillOf(tx, payout.subject)
    const withdrawal = fill && (await findWithdrawal(tx, fill.withdrawalId))
    if (fill === undefined || withdrawal === undefined) return undefined
    const pool = await findPool(tx, withdrawal.poolKey)
    const payers = await findPayers(tx, withdrawal, ctx.clock.now())
    if (pool === undefined || !payers.includes(withdrawal.destination)) return undefined
    const payees = [withdrawal.destination, ...(await redirectedPayees(tx, payout))]
    return { network: pool.network, amount: fill.amount, payees }
  },
}
