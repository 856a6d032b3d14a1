import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'
import type { Purchase, PurchaseIn } from './purchase.ts'
import { type PurchaseRow, purchaseOf } from './store.ts'

/**
 * The purchase of the same wallet with the same key, by a signed payment. Transfers do not count, because anybody can
 * name one; claims do not count, because their signature is not verified yet.
 */
export async function findByRequestKey(
  db: Db | Tx,
  { id, network, payer, requestKey }: Purchase,
  since: Date,
): Promise<PurchaseIn<'sent' | 'done'> | undefined> {
  if (requestKey === null) return undefined
  const { rows } = await sql<PurchaseRow>`
    select * from purchases where network = ${network} and payer = ${payer} and request_key = ${requestKey}
      and binding = 'signed' and state in ('sent', 'done') and created_at >= ${since} and id <> ${id}
    order by created_at desc limit 1`.execute(db)
  const found = rows[0] && purchaseOf(rows[0])
  return found?.state === 'sent' || found?.state === 'done' ? found : undefined
}

/** How many payments of the same wallet were submitted since then and failed. */
export async function countFailed(db: Db, { network, payer }: Purchase, since: Date): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from purchases where network = ${network} and payer = ${payer} and state = 'void'
      and reference is not null and kind <> 'transaction' and updated_at >= ${since}`.execute(db)
  return Number(rows[0]?.count ?? 0n)
}

/** The sum of a wallet's other submitted payments on a network, locked until the transaction ends. */
export async function lockUnderWay(tx: Tx, purchase: Purchase): Promise<bigint> {
  const { network, payer } = purchase
  await sql`select pg_advisory_xact_lock(hashtextextended(${`purchases:${network}:${payer}`}, 0))`.execute(tx)
  return sumUnderWay(tx, purchase)
}

export async function sumUnderWay(
  db: Db | Tx,
  { id, network, payer }: Pick<Purchase, 'id' | 'network' | 'payer'>,
): Promise<bigint> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(amount_micros), 0)::bigint as sum from purchases
    where network = ${network} and payer = ${payer} and state = 'sent' and id <> ${id}`.execute(db)
  return rows[0]?.sum ?? 0n
}
