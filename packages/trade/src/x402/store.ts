import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Binding, ProofKey, Purchase, PurchaseId, PurchaseIn } from './purchase.ts'

export type PurchaseRow = Selectable<Tables['purchases']>

export function purchaseOf(row: PurchaseRow): Purchase {
  const common = {
    id: row.id as PurchaseId,
    network: row.network as Network,
    kind: row.kind as ProofKey['kind'],
    proof: row.proof,
    subject: row.subject,
    request: row.request as Readonly<Record<string, unknown>>,
    fingerprint: row.fingerprint,
    requestKey: row.request_key,
    binding: row.binding as Binding,
    payer: row.payer,
    due: usdc(row.amount_micros),
    leaseUntil: row.lease_until,
    databaseEpoch: row.database_epoch,
    createdAt: row.created_at,
  }
  switch (row.state) {
    case 'sent':
      assert(row.reference !== null, `${row.id} was sent`)
      return { ...common, state: 'sent', reference: row.reference }
    case 'done':
      assert(row.reference !== null && row.result_id !== null, `${row.id} is done`)
      return { ...common, state: 'done', reference: row.reference, resultId: row.result_id }
    case 'void':
      return { ...common, state: 'void', why: row.why }
    default:
      return { ...common, state: 'claimed' }
  }
}

const purchases = (db: Db | Tx) => db.selectFrom('purchases').selectAll()

/** Selects the purchase of a payment. */
export const withProof = (db: Db | Tx, { network, kind, proof }: ProofKey) =>
  purchases(db).where('network', '=', network).where('kind', '=', kind).where('proof', '=', proof)

export async function findPurchase(db: Db | Tx, key: ProofKey): Promise<Purchase | undefined> {
  const row = await withProof(db, key).executeTakeFirst()
  return row && purchaseOf(row)
}

export async function findPurchaseById(db: Db | Tx, id: PurchaseId): Promise<Purchase | undefined> {
  const row = await purchases(db).where('id', '=', id).executeTakeFirst()
  return row && purchaseOf(row)
}

/** The purchases with transfers of a transaction that the buyers sent and named. */
export async function findNamed(db: Db | Tx, network: Network, reference: string): Promise<Purchase[]> {
  const rows = await purchases(db)
    .where('network', '=', network)
    .where('kind', '=', 'transaction')
    .where('reference', '=', reference)
    .orderBy('proof')
    .execute()
  return rows.map(purchaseOf)
}

export const lockPurchase = async (tx: Tx, id: PurchaseId): Promise<Purchase> =>
  purchaseOf(await purchases(tx).where('id', '=', id).forUpdate().executeTakeFirstOrThrow())

/**
 * Claims a payment for this process: a new one, one that never took effect, or one whose lease expired
 * or is of an earlier database epoch. Undefined when
 * another process has the claim.
 */
export async function claimPurchase(
  db: Db | Tx,
  purchase: PurchaseIn<'claimed'>,
  now: Date,
): Promise<Purchase | undefined> {
  const { rows } = await sql<PurchaseRow>`
    insert into purchases (id, network, kind, proof, subject, request, fingerprint, request_key, binding, payer,
      amount_micros, state, lease_until, created_at, updated_at)
    values (${purchase.id}, ${purchase.network}, ${purchase.kind}, ${purchase.proof}, ${purchase.subject},
      ${JSON.stringify(purchase.request)}, ${purchase.fingerprint}, ${purchase.requestKey}, ${purchase.binding}, ${purchase.payer},
      ${purchase.due}, 'claimed', ${purchase.leaseUntil}, ${now}, ${now})
    on conflict (network, kind, proof) do update set
      subject = excluded.subject, request = excluded.request, fingerprint = excluded.fingerprint,
      request_key = excluded.request_key, binding = excluded.binding, payer = excluded.payer,
      amount_micros = excluded.amount_micros, state = 'claimed', lease_until = excluded.lease_until,
      database_epoch = excluded.database_epoch,
      reference = null, why = null, created_at = excluded.created_at, updated_at = excluded.updated_at
    where purchases.state = 'void' or (purchases.state = 'claimed'
      and (purchases.lease_until < ${now} or purchases.database_epoch <> excluded.database_epoch))
    returning *`.execute(db)
  return rows[0] && purchaseOf(rows[0])
}

/** From now on the payment may be on the chain. False when the lease was lost. */
export async function saveSent(
  tx: Tx,
  { id, leaseUntil }: Pick<Purchase, 'id' | 'leaseUntil'>,
  reference: string,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('purchases')
    .set({ state: 'sent', reference, updated_at: now })
    .where('id', '=', id)
    .where('state', '=', 'claimed')
    .where('lease_until', '=', leaseUntil)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function saveDone(
  tx: Tx,
  id: PurchaseId,
  { reference, payer, resultId }: { reference: string; payer: string | null; resultId: string },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({ state: 'done', reference, payer, result_id: resultId, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/**
 * Nothing took effect, so the payment can be used again. Only the holder of the claim, or of the same submitted
 * transaction, may save this: another process may have claimed it meanwhile.
 */
export async function saveVoid(db: Db | Tx, purchase: Purchase, why: string, now: Date): Promise<void> {
  const isSame =
    purchase.state === 'sent'
      ? sql<SqlBool>`state = 'sent' and reference = ${purchase.reference}`
      : sql<SqlBool>`state = 'claimed' and lease_until = ${purchase.leaseUntil}`
  await db
    .updateTable('purchases')
    .set({ state: 'void', why: why.slice(0, 300), updated_at: now })
    .where('id', '=', purchase.id)
    .where(isSame)
    .execute()
}

/** Deletes in small batches, so that no lock is held for long. */
export async function deleteVoid(db: Db, before: Date, limit: number): Promise<number> {
  const done = await sql`
    delete from purchases where id in (
      select id from purchases where state in ('claimed', 'void') and reference is null and updated_at < ${before}
      order by updated_at limit ${limit} for update skip locked
    )`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}

export interface PurchaseMetrics {
  readonly network: string
  readonly underWay: bigint
  readonly oldestSeconds: number
}

/** Submitted payments that have not ended, by network. */
export async function findUnderWay(db: Db, now: Date): Promise<PurchaseMetrics[]> {
  const { rows } = await sql<PurchaseMetrics>`
    select network, count(*) as "underWay",
      extract(epoch from ${now}::timestamptz - min(created_at))::double precision as "oldestSeconds"
    from purchases where state = 'sent' group by network`.execute(db)
  return rows
}
