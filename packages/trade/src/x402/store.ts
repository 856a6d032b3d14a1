import type { SignedPayment } from '@market/core/ports/facilitator'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Binding, Broadcast, Hire, HireId, HireIn, ProofKey, Purchase } from './hire.ts'

type Row = Selectable<Tables['hires']>

function hireOf(row: Row): Hire {
  const common = {
    id: row.id as HireId,
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
    createdAt: row.created_at,
  }
  switch (row.state) {
    case 'sent':
      return { ...common, state: 'sent', ...broadcastOf(row) }
    case 'done':
      assert(row.reference !== null && row.result_id !== null, `${row.id} is done`)
      return { ...common, state: 'done', reference: row.reference, resultId: row.result_id }
    case 'void':
      return { ...common, state: 'void', why: row.why }
    default:
      return { ...common, state: 'claimed' }
  }
}

function broadcastOf(row: Row): Broadcast {
  const {
    reference,
    bytes,
    nonce,
    signed_at_height: signedAtHeight,
    last_valid_height: lastValidHeight,
  } = row
  assert(reference !== null && bytes !== null && signedAtHeight !== null, `${row.id} was sent`)
  return {
    payment: row.payment as SignedPayment,
    settlement: { reference, bytes, nonce, signedAtHeight, lastValidHeight },
  }
}

export async function findHire(db: Db | Tx, { network, kind, proof }: ProofKey): Promise<Hire | undefined> {
  const row = await db
    .selectFrom('hires')
    .selectAll()
    .where('network', '=', network)
    .where('kind', '=', kind)
    .where('proof', '=', proof)
    .executeTakeFirst()
  return row && hireOf(row)
}

/** Whether we brought this transaction to the chain ourselves, for somebody else's purchase. */
export async function isSettlement(db: Db | Tx, network: Network, reference: string): Promise<boolean> {
  const row = await db
    .selectFrom('hires')
    .select('id')
    .where('network', '=', network)
    .where('reference', '=', reference)
    .where('kind', '<>', 'transaction')
    .executeTakeFirst()
  return row !== undefined
}

export async function lockHire(tx: Tx, id: HireId): Promise<Hire> {
  const row = await tx
    .selectFrom('hires')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return hireOf(row)
}

/**
 * Takes the right to see a payment through: a new one, one that never took effect, or one whose claimer was silent for
 * too long. Undefined when somebody else has it.
 */
export async function claimHire(db: Db | Tx, hire: HireIn<'claimed'>, now: Date): Promise<Hire | undefined> {
  const { rows } = await sql<Row>`
    insert into hires (id, network, kind, proof, subject, request, fingerprint, request_key, binding, payer,
      amount_micros, state, lease_until, created_at, updated_at)
    values (${hire.id}, ${hire.network}, ${hire.kind}, ${hire.proof}, ${hire.subject},
      ${JSON.stringify(hire.request)}, ${hire.fingerprint}, ${hire.requestKey}, ${hire.binding}, ${hire.payer},
      ${hire.due}, 'claimed', ${hire.leaseUntil}, ${now}, ${now})
    on conflict (network, kind, proof) do update set
      subject = excluded.subject, request = excluded.request, fingerprint = excluded.fingerprint,
      request_key = excluded.request_key, binding = excluded.binding, payer = excluded.payer,
      amount_micros = excluded.amount_micros, state = 'claimed', lease_until = excluded.lease_until,
      payment = null, reference = null, bytes = null, nonce = null, signed_at_height = null,
      last_valid_height = null, why = null, created_at = excluded.created_at, updated_at = excluded.updated_at
    where hires.state = 'void' or (hires.state = 'claimed' and hires.lease_until < ${now})
    returning *`.execute(db)
  return rows[0] && hireOf(rows[0])
}

/** From here on the payment may be on the chain. */
export async function saveSent(
  tx: Tx,
  { id, leaseUntil }: Pick<Hire, 'id' | 'leaseUntil'>,
  { payment, settlement }: Broadcast,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('hires')
    .set({
      state: 'sent',
      payment: JSON.stringify(payment),
      reference: settlement.reference,
      bytes: settlement.bytes,
      nonce: settlement.nonce,
      signed_at_height: settlement.signedAtHeight,
      last_valid_height: settlement.lastValidHeight,
      updated_at: now,
    })
    .where('id', '=', id)
    .where('state', '=', 'claimed')
    // Somebody else may have taken it over from whoever was slow.
    .where('lease_until', '=', leaseUntil)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function saveDone(
  tx: Tx,
  id: HireId,
  { reference, payer, resultId }: { reference: string; payer: string | null; resultId: string },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('hires')
    .set({ state: 'done', reference, payer, result_id: resultId, bytes: null, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** The authorization by which an order was bought; undefined when it was bought otherwise. */
export async function findBought(
  db: Db,
  orderId: string,
  network: Network,
): Promise<
  { readonly id: HireId; readonly payment: SignedPayment; readonly signedAtHeight: bigint } | undefined
> {
  const row = await db
    .selectFrom('hires')
    .select(['id', 'payment', 'signed_at_height'])
    .where('result_id', '=', orderId)
    .where('network', '=', network)
    .where('kind', '=', 'authorization')
    .executeTakeFirst()
  if (row === undefined || row.signed_at_height === null) return undefined
  const { id, payment, signed_at_height: signedAtHeight } = row
  return { id: id as HireId, payment: payment as SignedPayment, signedAtHeight }
}

/** The same payment stands on the chain by another transaction now. */
export async function saveMoved(db: Db, id: HireId, reference: string, now: Date): Promise<void> {
  await db.updateTable('hires').set({ reference, updated_at: now }).where('id', '=', id).execute()
}

/** Who named the payment had no right to it; who made it may use it for anything. */
export async function saveContested(tx: Tx, id: HireId, now: Date): Promise<void> {
  await tx
    .updateTable('hires')
    .set({ state: 'void', result_id: null, why: 'the payment was another’s', updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** From now on it is the purchase of who made the payment. */
export async function saveTakenOver(
  tx: Tx,
  id: HireId,
  { subject, request, fingerprint, requestKey, resultId, due }: Purchase & { resultId: string; due: Usdc },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('hires')
    .set({
      ...{ subject, request: JSON.stringify(request), fingerprint, request_key: requestKey },
      ...{
        binding: 'payer',
        state: 'done',
        result_id: resultId,
        amount_micros: due,
        why: null,
        updated_at: now,
      },
    })
    .where('id', '=', id)
    .execute()
}

/**
 * Nothing took effect, so the same payment may be tried again, for whatever it is offered then. Said by whoever has the
 * claim, or of these very bytes: another may be at it by now.
 */
export async function saveVoid(db: Db | Tx, hire: Hire, why: string, now: Date): Promise<void> {
  const whose =
    hire.state === 'sent'
      ? sql<SqlBool>`state = 'sent' and reference = ${hire.settlement.reference}`
      : sql<SqlBool>`state = 'claimed' and lease_until = ${hire.leaseUntil}`
  await db
    .updateTable('hires')
    .set({ state: 'void', why: why.slice(0, 300), updated_at: now })
    .where('id', '=', hire.id)
    .where(whose)
    .execute()
}

/** Payments that were sent and nobody saw through; each is marked, so that workers share them. */
export async function takeSent(
  db: Db,
  networks: readonly Network[],
  at: { now: Date; before: Date },
  limit: number,
): Promise<HireIn<'sent'>[]> {
  const { rows } = await sql<Row>`
    update hires set updated_at = ${at.now} where id in (
      select id from hires where state = 'sent' and updated_at < ${at.before}
        and network = any(${networks})
      order by updated_at limit ${limit} for update skip locked
    ) returning *`.execute(db)
  return rows.map(hireOf).filter((hire) => hire.state === 'sent')
}

/** In small batches, so that no lock is held for long. */
export async function deleteOver(db: Db, before: Date, limit: number): Promise<number> {
  const done = await sql`
    delete from hires where id in (
      select id from hires where state in ('claimed', 'void') and reference is null and updated_at < ${before}
      order by updated_at limit ${limit} for update skip locked
    )`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}

export interface HireFigures {
  readonly network: string
  readonly underWay: bigint
  readonly oldestSeconds: number
}

/** By network, what was sent to the chain and has not ended. */
export async function findHireFigures(db: Db, now: Date): Promise<HireFigures[]> {
  const { rows } = await sql<HireFigures>`
    select network, count(*) as "underWay",
      extract(epoch from ${now}::timestamptz - min(created_at))::double precision as "oldestSeconds"
    from hires where state = 'sent' group by network`.execute(db)
  return rows
}

/**
 * What the same wallet has bought under the same word since then, by what it signed. What somebody else may have named
 * counts for nothing here, nor does what was only claimed: nobody has looked at its signature yet.
 */
export async function findNamed(
  db: Db | Tx,
  { id, network, payer, requestKey }: Hire,
  since: Date,
): Promise<HireIn<'sent' | 'done'> | undefined> {
  if (requestKey === null) return undefined
  const { rows } = await sql<Row>`
    select * from hires where network = ${network} and payer = ${payer} and request_key = ${requestKey}
      and binding = 'signed' and state in ('sent', 'done') and created_at >= ${since} and id <> ${id}
    order by created_at desc limit 1`.execute(db)
  const found = rows[0] && hireOf(rows[0])
  return found?.state === 'sent' || found?.state === 'done' ? found : undefined
}

/** How many payments of the same wallet were brought to the chain lately and came to nothing. */
export async function countFailed(db: Db, { network, payer }: Hire, since: Date): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from hires where network = ${network} and payer = ${payer} and state = 'void'
      and reference is not null and kind <> 'transaction' and updated_at >= ${since}`.execute(db)
  return Number(rows[0]?.count ?? 0n)
}

/** What a wallet has under way on a network beside one payment; until the transaction ends nobody adds to it. */
export async function lockUnderWay(tx: Tx, { id, network, payer }: Hire): Promise<bigint> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`hires:${network}:${payer}`}, 0))`.execute(tx)
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(amount_micros), 0)::bigint as sum from hires
    where network = ${network} and payer = ${payer} and state = 'sent' and id <> ${id}`.execute(tx)
  return rows[0]?.sum ?? 0n
}
