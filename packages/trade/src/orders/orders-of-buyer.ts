import type { Actor } from '@market/core/context'
import type { OwnWallet } from '@market/core/ports/signatures'
import { isOlder, type NewestFirstPage } from '@market/database/newest-first'
import type { Db } from '@market/database/transact'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Buyer, Order } from './order.ts'
import { isBuyer } from './order-role.ts'
import { fromRow, pendingPayment, type Row, selectOrders } from './row.ts'
import type { Status } from './states.ts'

const LINKED = 'linked'

const CLIENT_EVIDENCE = sql`coalesce(client_proven_by,
  case when payment_method is not null then payment_network end, 'base-mainnet')`

/** `isSameHolder` in SQL. */
const isHeld = (stored: RawBuilder<unknown>) => sql<SqlBool>`
  (one.evidence in ('key', ${stored}) or (one.evidence = ${LINKED} and ${stored} <> 'alt-mainnet'))`

/**
 * Those of the orders of which the caller is the buyer. The name of a smart wallet does not say it: on another network its
 * address can belong to someone else.
 */
export async function findBought(
  db: Db,
  actor: Actor,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (orderIds.length === 0) return new Set()
  const rows = await selectOrders(db).where('id', 'in', orderIds).execute()
  return new Set(rows.filter((row) => isBuyer(fromRow(row), actor)).map(({ id }) => id))
}

/** A buyer's orders, newest first. Each name and wallet is searched by its own index. The conditions are those of `roleIn`. */
export async function findOrdersOf(
  db: Db,
  names: {
    readonly buyer: Buyer
    readonly wallets: readonly OwnWallet[]
    /** All when it is empty. */
    readonly statuses: readonly Status[]
    /** Only those that open a workspace. */
    readonly withQuota: boolean
  },
  page: NewestFirstPage,
): Promise<Order[]> {
  const keys = names.wallets.map(({ key }) => key)
  const evidence = names.wallets.map(({ provenBy }) => provenBy ?? LINKED)
  const hasStatus =
    names.statuses.length === 0 ? sql`true` : sql`status = any(${[...names.statuses]}::text[])`
  const isIn = names.withQuota ? sql`${hasStatus} and quota_total > 0` : hasStatus
  const { rows } = await sql<Row>`
    select orders.*, ${pendingPayment} as pending from (
      (select * from orders where buyer = ${names.buyer} and not starts_with(buyer, 'wallet:') and ${isOlder(page)} and ${isIn}
        order by created_at desc, id desc limit ${page.limit})
      union
      select mine.* from unnest(${keys}::text[], ${evidence}::text[]) as one (key, evidence) cross join lateral (
        select * from orders where buyer = 'wallet:' || one.key and ${isOlder(page)} and ${isIn}
          and (for_principal or client_wallet is distinct from one.key) and ${isHeld(sql`'base-mainnet'`)}
        order by created_at desc, id desc limit ${page.limit}
      ) as mine
      union
      select paid.* from unnest(${keys}::text[], ${evidence}::text[]) as one (key, evidence) cross join lateral (
        select * from orders where client_wallet = one.key and ${isOlder(page)} and ${isIn} and ${isHeld(CLIENT_EVIDENCE)}
        order by created_at desc, id desc limit ${page.limit}
      ) as paid
    ) as orders order by created_at desc, id desc limit ${page.limit}`.execute(db)
  return rows.map(fromRow)
}
