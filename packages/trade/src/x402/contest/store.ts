import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import { sql } from 'kysely'
import type { ProofKey, Purchase, PurchaseId, PurchaseRequest } from '../purchase.ts'
import { purchaseOf } from '../store.ts'

/** A later naming of a transfer that bought something, with the price it would have paid. */
export interface Naming extends Pick<PurchaseRequest, 'subject' | 'request'> {
  readonly fingerprint: Buffer
  readonly due: Usdc
  readonly at: Date
}

/** Locks the purchase of a payment until the transaction ends. A purchase that was replaced has another id. */
export async function lockNamed(
  tx: Tx,
  { network, kind, proof }: ProofKey,
): Promise<{ readonly purchase: Purchase; readonly contestedAt: Date | null } | undefined> {
  const row = await tx
    .selectFrom('purchases')
    .selectAll()
    .where('network', '=', network)
    .where('kind', '=', kind)
    .where('proof', '=', proof)
    .forUpdate()
    .executeTakeFirst()
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

export async function saveRegistrationContest(tx: Tx, id: PurchaseId, at: Date): Promise<void> {
  await tx.updateTable('purchases').set({ contested_at: at, updated_at: at }).where('id', '=', id).execute()
}

/** The payer signed for the purchase, or an arbiter decided for it. */
export async function saveConfirmed(tx: Tx, id: PurchaseId, now: Date): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({ binding: 'payer', contested_at: null, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** The payment of a registration is refunded to its payer. */
export async function saveRefunded(tx: Tx, id: PurchaseId, now: Date): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({ result_id: `refund:${id}`, contested_at: null, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** The payer signed for an order of another kind, which the payment pays. It can be used again. */
export async function saveReleased(tx: Tx, id: PurchaseId, now: Date): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({ state: 'void', result_id: null, why: 'contested_by_payer', contested_at: null, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Replaces the purchase by the one that the payer signed for. It gets an id of its own, which its money refers to. */
export async function saveReplaced(
  tx: Tx,
  before: PurchaseId,
  after: PurchaseRequest & { readonly id: PurchaseId; readonly resultId: string; readonly due: Usdc },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({
      id: after.id,
      subject: after.subject,
      request: JSON.stringify(after.request),
      fingerprint: after.fingerprint,
      request_key: after.requestKey,
      binding: 'payer',
      result_id: after.resultId,
      amount_micros: after.due,
      contested_at: null,
      updated_at: now,
    })
    .where('id', '=', before)
    .execute()
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
      select purchases.id, orders.contested_at, orders.contest_ends_at as ends_at
      from orders join purchases on purchases.result_id = orders.id
      where orders.contested_at is not null
      union all
      select id, contested_at, null from purchases where contested_at is not null
    ) as open
    where ${id === undefined ? sql`true` : sql`id = ${id}`}
      and ${after === undefined ? sql`true` : sql`(contested_at, id) > (${after.at}::timestamptz, ${after.id})`}
    order by contested_at, id limit ${limit}`.execute(db)
  return rows
}
