import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { SignedTransfer } from '../ports/rail.ts'
import type { Payout, PayoutId, PayoutKind, PayoutState, StoredSignature } from './payout.ts'

const payoutOf = (row: Selectable<Tables['payouts']>): Payout => ({
  id: row.id as PayoutId,
  network: row.network as Network,
  kind: row.kind as PayoutKind,
  subject: row.subject,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  state: row.state as PayoutState,
  reason: row.reason,
  nonce: row.nonce,
  finalReference: row.final_reference,
  createdAt: row.created_at,
})

/** Undefined when this kind of payout of the subject exists already. */
export async function insertPayout(tx: Tx, payout: Payout): Promise<Payout | undefined> {
  const row = await tx
    .insertInto('payouts')
    .values({
      id: payout.id,
      network: payout.network,
      kind: payout.kind,
      subject: payout.subject,
      payee: payout.payee,
      amount_micros: payout.amount,
      state: payout.state,
      created_at: payout.createdAt,
      updated_at: payout.createdAt,
      due_at: payout.createdAt,
    })
    .onConflict((conflict) => conflict.constraint('payouts_once').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && payoutOf(row)
}

export async function findPayout(db: Db, id: PayoutId): Promise<Payout | undefined> {
  const row = await db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirst()
  return row && payoutOf(row)
}

export async function findBySubject(db: Db | Tx, kind: PayoutKind, subject: string): Promise<Payout> {
  const row = await db
    .selectFrom('payouts')
    .selectAll()
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow()
  return payoutOf(row)
}

export async function lockPayout(tx: Tx, id: PayoutId): Promise<Payout> {
  const row = await tx
    .selectFrom('payouts')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return payoutOf(row)
}

export async function savePayout(
  tx: Tx,
  id: PayoutId,
  change: { state: PayoutState; reason?: string | null; nonce?: bigint; finalReference?: string },
  at: Date,
): Promise<Payout> {
  const row = await tx
    .updateTable('payouts')
    .set({
      state: change.state,
      reason: change.reason ?? null,
      updated_at: at,
      ...(change.nonce !== undefined && { nonce: change.nonce }),
      ...(change.finalReference !== undefined && { final_reference: change.finalReference }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return payoutOf(row)
}

/** Payouts whose time has come; each is marked, so that workers share them. */
export async function takeDue(
  tx: Tx,
  network: Network,
  at: { now: Date; next: Date },
  limit: number,
): Promise<PayoutId[]> {
  const { rows } = await sql<{ id: PayoutId }>`
    update payouts set due_at = ${at.next} where id in (
      select id from payouts
      where state in ('queued', 'held', 'numbered', 'signed') and network = ${network} and due_at <= ${at.now}
      order by due_at limit ${limit} for update skip locked
    ) returning id`.execute(tx)
  return rows.map((row) => row.id)
}

export async function saveDue(tx: Tx, id: PayoutId, at: Date): Promise<void> {
  await tx.updateTable('payouts').set({ due_at: at }).where('id', '=', id).execute()
}

/** Until the commit: one payout after another is let through on a network. */
export async function lockNetwork(tx: Tx, network: Network): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payouts:${network}`}, 0))`.execute(tx)
}

export interface NonceBook {
  readonly treasury: string
  /** The nonce of the next payout; all below were given out. */
  readonly next: bigint
}

/** Read and written under the network's lock. */
export async function findNonce(tx: Tx, network: Network): Promise<NonceBook | undefined> {
  const row = await tx.selectFrom('rail_nonces').selectAll().where('network', '=', network).executeTakeFirst()
  return row && { treasury: row.treasury, next: row.next_nonce }
}

export async function saveNonce(tx: Tx, network: Network, { treasury, next }: NonceBook): Promise<void> {
  await tx
    .insertInto('rail_nonces')
    .values({ network, treasury, next_nonce: next })
    .onConflict((conflict) => conflict.column('network').doUpdateSet({ next_nonce: next }))
    .execute()
}

export async function findSignatures(db: Db | Tx, id: PayoutId): Promise<StoredSignature[]> {
  const rows = await db
    .selectFrom('payout_signatures')
    .selectAll()
    .where('payout_id', '=', id)
    .orderBy('n')
    .execute()
  return rows.map((row) => ({
    reference: row.reference,
    bytes: row.bytes,
    nonce: row.nonce,
    lastValidHeight: row.last_valid_height,
    maxFeePerGas: row.max_fee_per_gas === null ? null : BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: row.max_priority_fee_per_gas === null ? null : BigInt(row.max_priority_fee_per_gas),
    createdAt: row.created_at,
  }))
}

/** False when another worker wrote down a signature of its own first: then these bytes must never be sent. */
export async function insertSignature(
  tx: Tx,
  payout: Payout,
  n: number,
  signed: SignedTransfer,
  at: Date,
): Promise<boolean> {
  const done = await tx
    .insertInto('payout_signatures')
    .values({
      network: payout.network,
      reference: signed.reference,
      payout_id: payout.id,
      n,
      bytes: signed.bytes,
      nonce: signed.nonce,
      last_valid_height: signed.lastValidHeight,
      max_fee_per_gas: signed.maxFeePerGas?.toString() ?? null,
      max_priority_fee_per_gas: signed.maxPriorityFeePerGas?.toString() ?? null,
      created_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

/** These can no longer take effect, and did not; one that was signed since is not among them. */
export async function saveDead(tx: Tx, network: Network, dead: readonly SignedTransfer[]): Promise<void> {
  if (dead.length === 0) return
  await tx
    .updateTable('payout_signatures')
    .set({ is_dead: true })
    .where('network', '=', network)
    .where(
      'reference',
      'in',
      dead.map(({ reference }) => reference),
    )
    .execute()
}

/** What is on its way on a network, and what has arrived since a moment, whenever it was asked for. */
export async function sumSince(tx: Tx, network: Network, since: Date): Promise<Usdc> {
  const row = await tx
    .selectFrom('payouts')
    .select((select) => sql<bigint>`coalesce(sum(${select.ref('amount_micros')}), 0)::bigint`.as('sum'))
    .where('network', '=', network)
    .where(
      sql<SqlBool>`(state in ('numbered', 'signed') or state = 'final' and updated_at >= ${since}::timestamptz)`,
    )
    .executeTakeFirstOrThrow()
  return usdc(row.sum)
}
