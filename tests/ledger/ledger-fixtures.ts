import { randomBytes } from 'node:crypto'
import type { Db } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { escrow, type Journal, post, world } from '@market/money/ledger'
import type { MarketContext } from '@market/testing/market-context'
import { sql } from 'kysely'

export const BASE: Network = 'base-mainnet'

export const someSubject = (prefix = 'ord'): string => `${prefix}_${randomBytes(8).toString('hex')}`

export const postNow = (ctx: MarketContext, journal: Journal) => ctx.transact((tx) => post(ctx, tx, journal))

/** The journal of a payment for an order. */
export const paid = (subject: string, micros: bigint, network = BASE): Journal => ({
  key: `order.paid:${subject}`,
  reason: 'order.paid',
  subject,
  network,
  moves: [{ from: world(network), to: escrow(network, subject), amount: usdc(micros) }],
})

/** Violated invariants; always empty. Unlike `totals`, which reads balances, this sums the moves. */
export async function ledgerFaults(db: Db): Promise<string[]> {
  const { rows } = await sql<{ fault: string }>`
    select 'unbalanced ' || journal_id as fault from ledger_moves
      group by journal_id, network, asset having sum(amount_micros) <> 0
    union all
    select 'incomplete ' || j.id from ledger_journals j left join ledger_moves m on m.journal_id = j.id
      group by j.id having count(m.n) <> j.move_count
    union all
    select 'drifted ' || a.id from ledger_accounts a left join ledger_moves m on m.account_id = a.id
      group by a.id having a.balance_micros <> coalesce(sum(m.amount_micros), 0)
    union all
    select 'overdrawn ' || id from ledger_accounts where balance_micros < 0 and kind <> 'world'
    union all
    select 'orphaned ' || journal_id from ledger_moves m
      where not exists (select from ledger_journals j where j.id = m.journal_id)
        or not exists (select from ledger_accounts a where a.id = m.account_id and a.network = m.network)`.execute(
    db,
  )
  return rows.map(({ fault }) => fault)
}
