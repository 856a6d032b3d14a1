import type { Bug } from './bug.ts'

/** Every client deposits. */
const AIM = { earn: 1, thieves: 0, orders: 6, abreast: 6, faults: 0, settledWithinMs: 120_000 } as const

export const EARN_BUGS: readonly Bug[] = [
  {
    name: 'earn-mint-twice',
    shownBy: ['a holder has the shares of the own deposits, less those that were burned'],
    changes: [
      {
        file: 'earn/src/deposits/settle-deposits.ts',
        from: '  await mintShares(tx, { poolKey, holder, shares, principal: amount }, now)\n',
        to: '  for (let n = 0; n < 2; n++) await mintShares(tx, { poolKey, holder, shares, principal: amount }, now)\n',
      },
    ],
    aim: AIM,
  },
  {
    name: 'earn-fill-twice',
    // What was requested is not recorded, so the next sweep requests it again.
    shownBy: ['a withdrawal from Earn is paid once, to the wallet that deposited'],
    changes: [
      {
        file: 'earn/src/withdrawals/store.ts',
        from: 'filled_micros = filled_micros + $',
        to: 'filled_micros = filled_micros + 0 * $',
      },
      {
        file: 'earn/src/withdrawals/store.ts',
        from: 'status = case when open_shares',
        to: 'status = case when false and open_shares',
      },
    ],
    sql: ['alter table ledger_accounts drop constraint ledger_accounts_not_overdrawn'],
    aim: AIM,
  },
]
