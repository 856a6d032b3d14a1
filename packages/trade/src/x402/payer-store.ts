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
