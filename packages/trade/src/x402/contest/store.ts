import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import { sql, type Updateable } from 'kysely'
import { contestedOrders } from '../../orders/index.ts'
import type { ProofKey, Purchase, PurchaseId, PurchaseRequest } from '../purchase.ts'
import { purchaseOf, withProof } from '../store.ts'

/** A later naming of a transfer that bought something, with the price it would have paid. */
export interface Naming extends Pick<PurchaseRequest, 'subject' | 'request'> {
  readonly fingerprint: Buffer
  readonly due: Usdc
  readonly at: Date
}

/** Locks the purchase of a payment until the transaction ends. A purchase that was replaced has another id. */
export async function lockNamed(
  tx: Tx,
  key: ProofKey,
): Promise<{ readonly purchase: Purchase; readonly contestedAt: Date | null } | undefined> {
  const row = await withProof(tx, key).forUpdate().executeTakeFirst()
  return row && { purchase: purchaseOf(row), contestedAt: row.contested_at }
}

/** Enough to show an arbiter what was asked for; more namings of one transfer are not recorded. */
const MOST_NAMINGS = 20

/** Records a naming once. The purchase is locked. */
export async function saveNaming(tx: Tx, id: PurchaseId, naming: Naming): Promise<void> {
  await sql`
    insert into purchase_namings (purchase_id, n, subject, request, fingerprint, amount_micros, named_at)
    select ${id}, coalesce(max(n), 0) + 1, ${naming.subject}, ${JSON.stringify(naming.request)}, ${naming.fingerprint},
      ${naming.due}, ${naming.at}
    from purchase_namings where purchase_id = ${id}
    having count(*) < ${MOST_NAMINGS} and not coalesce(bool_or(fingerprint = ${naming.fingerprint}), false)`.execute(
    tx,
  )
}

export async function findNamings(db: Db | Tx, id: PurchaseId): Promise<Naming[]> {
  const rows = await db
    .selectFrom('purchase_namings')
    .selectAll()
    .where('purchase_id', '=', id)
    .orderBy('n')
    .execute()
  return rows.map((row) => ({
    subject: row.subject,
    request: row.request as Naming['request'],
    fingerprint: row.fingerprint,
    due: usdc(row.amount_micros),
    at: row.named_at,
  }))
}

/** Writes a decision about a purchase, after which it is not contested unless `set` says so. */
async function update(
  tx: Tx,
  id: PurchaseId,
  set: Updateable<Tables['purchases']>,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({ contested_at: null, ...set, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export const saveRegistrationContest = (tx: Tx, id: PurchaseId, at: Date): Promise<void> =>
  update(tx, id, { contested_at: at }, at)

/** The payer signed for the purchase, or an arbiter decided for it. */
export const saveConfirmed = (tx: Tx, id: PurchaseId, now: Date): Promise<void> =>
  update(tx, id, { binding: 'payer' }, now)

/** The payment of a registration is refunded to its payer. */
export const saveRefunded = (tx: Tx, id: PurchaseId, now: Date): Promise<void> =>
  update(tx, id, { result_id: `refund:${id}` }, now)

/** The payer signed for an order of another kind, which the payment pays. It can be used again. */
export const saveReleased = (tx: Tx, id: PurchaseId, now: Date): Promise<void> =>
  update(tx, id, { state: 'void', result_id: null, why: 'contested_by_payer' }, now)

/** Replaces the purchase by the one that the payer signed for. It gets an id of its own, which its money refers to. */
export const saveReplaced = (
  tx: Tx,
  before: PurchaseId,
  after: PurchaseRequest & { readonly id: PurchaseId; readonly resultId: string; readonly due: Usdc },
  now: Date,
): Promise<void> => {
  const { id, subject, fingerprint, requestKey: request_key, resultId: result_id, due } = after
  const request = JSON.stringify(after.request)
  const bought = { id, subject, request, fingerprint, request_key, result_id, amount_micros: due }
  return update(tx, before, { ...bought, binding: 'payer' }, now)
}

export interface ContestRow {
  readonly id: PurchaseId
  readonly contestedAt: Date
  readonly endsAt: Date | null
}

/** Contested orders and registrations, the oldest contest first; or the one of a purchase. */
export async function findContests(
  db: Db | Tx,
  asked: {
    readonly limit: number
    readonly after?: { readonly at: Date; readonly id: string } | undefined
    readonly id?: PurchaseId
  },
): Promise<ContestRow[]> {
  const { limit, after, id } = asked
  const { rows } = await sql<ContestRow>`
    select id, contested_at as "contestedAt", ends_at as "endsAt" from (
      select purchases.id, contested.contested_at, contested.ends_at
      from ${contestedOrders} as contested join purchases on purchases.result_id = contested.id
      union all
      select id, contested_at, null from purchases where contested_at is not null
    ) as open
    where ${id === undefined ? sql`true` : sql`id = ${id}`}
      and ${after === undefined ? sql`true` : sql`(contested_at, id) > (${after.at}::timestamptz, ${after.id})`}
    order by contested_at, id limit ${limit}`.execute(db)
  return rows
}
