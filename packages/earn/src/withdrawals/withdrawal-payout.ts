import { type PayoutRule, redirectedPayees } from '@market/money/payouts'
import { findPayers, sumPaidIn } from '../deposits/index.ts'
import { findPool, findPools } from '../pools/index.ts'
import { findFillOf, findWithdrawal, sumPaidOut } from './store.ts'

/** The part of a withdrawal, to its destination, which paid one of the holder's deposits, or to where two operators sent it. */
export const withdrawalPayout: PayoutRule = {
  capped: 'unless_returned',
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

  /** What a wallet paid into pools comes back to it. Only what it gained counts against the caps. */
  async isReturned(tx, { subject, payee, network }) {
    const fill = await findFillOf(tx, subject)
    const withdrawal = fill && (await findWithdrawal(tx, fill.withdrawalId))
    if (fill === undefined || withdrawal?.destination !== payee || network === 'solana-mainnet') return false
    const keys = (await findPools(tx)).filter((pool) => pool.network === network).map(({ key }) => key)
    const before = await sumPaidOut(tx, keys, payee, fill)
    return before + fill.amount <= (await sumPaidIn(tx, network, payee))
  },
}
