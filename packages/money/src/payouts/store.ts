import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, type SqlBool, sql } from 'kysely'
import { formatPurpose, parsePurpose } from '../payments/index.ts'
import { DATABASE_EPOCH } from './outgoing/store.ts'
import { NO_ADDRESS, type Payout, type PayoutId, type PayoutKind, type PayoutState } from './payout.ts'

const payoutOf = (row: Selectable<Tables['payouts']>): Payout => ({
  id: row.id as PayoutId,
  network: row.network as Network,
  kind: row.kind as PayoutKind,
  subject: row.subject,
  purpose: row.purpose === null ? null : parsePurpose(row.purpose),
  payee: row.payee,
  amount: usdc(row.amount_micros),
  state: row.state as PayoutState,
  reason: row.reason,
  nonce: row.nonce,
  round: row.round,
  finalReference: row.final_reference,
  toldAgent: row.notified_agent as AgentId | null,
  notBefore: row.not_before,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Undefined when this kind of payout of the subject exists already. */
export async function insertPayout(tx: Tx, dueAt: Date, payout: Payout): Promise<Payout | undefined> {
  const row = await tx
    .insertInto('payouts')
    .values({
      id: payout.id,
      network: payout.network,
      kind: payout.kind,
      subject: payout.subject,
      purpose: payout.purpose === null ? null : formatPurpose(payout.purpose),
      payee: payout.payee,
      amount_micros: payout.amount,
      state: payout.state,
      reason: payout.reason,
      round: payout.round,
      notified_agent: payout.toldAgent,
      not_before: payout.notBefore,
      created_at: payout.createdAt,
      updated_at: payout.updatedAt,
      due_at: dueAt,
    })
    // Whichever of its unique keys is in the way: of two that come at once either may be met first.
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && payoutOf(row)
}

export async function findPayout(db: Db | Tx, id: PayoutId): Promise<Payout | undefined> {
  const row = await db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirst()
  return row && payoutOf(row)
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
  change: {
    state: PayoutState
    reason?: string | null
    nonce?: bigint
    round?: number
    finalReference?: string
  },
  at: Date,
): Promise<Payout> {
  const row = await tx
    .updateTable('payouts')
    .set({
      state: change.state,
      reason: change.reason ?? null,
      updated_at: at,
      ...(change.nonce !== undefined && { nonce: change.nonce }),
      ...(change.round !== undefined && { round: change.round }),
      ...(change.finalReference !== undefined && { final_reference: change.finalReference }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return payoutOf(row)
}

interface NextRound {
  readonly payee?: string | null
  readonly amount?: Usdc
  readonly network?: Network
  readonly notBefore?: Date | null
}

/** Back to the beginning, at once; what was signed in earlier rounds is over. Without an address it waits for one. */
export async function startRound(
  tx: Tx,
  { id, round, payee: before }: Payout,
  at: Date,
  { payee = before, ...change }: NextRound = {},
): Promise<Payout> {
  await tx.updateTable('payout_signatures').set({ is_dead: true }).where('payout_id', '=', id).execute()
  const row = await tx
    .updateTable('payouts')
    .set({
      state: payee === null ? 'failed' : 'queued',
      reason: payee === null ? NO_ADDRESS : null,
      nonce: null,
      round: round + 1,
      payee,
      updated_at: at,
      due_at: at,
      ...(change.amount !== undefined && { amount_micros: change.amount }),
      ...(change.network !== undefined && { network: change.network }),
      ...(change.notBefore !== undefined && { not_before: change.notBefore }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return payoutOf(row)
}

/** Whether some other payout has this nonce. */
export async function isNonceTaken(tx: Tx, { id, network }: Payout, nonce: bigint): Promise<boolean> {
  const row = await tx
    .selectFrom('payouts')
    .select('id')
    .where('network', '=', network)
    .where('nonce', '=', nonce)
    .where('id', '<>', id)
    .executeTakeFirst()
  return row !== undefined
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

/** Once there is a book there always is one. What it says is read and written under the network's lock. */
export async function findNonce(tx: Db | Tx, network: Network): Promise<NonceBook | undefined> {
  const row = await tx
    .selectFrom('payout_nonces')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  return row && { treasury: row.treasury, next: row.next_nonce }
}

export async function saveNonce(tx: Tx, network: Network, { treasury, next }: NonceBook): Promise<void> {
  await tx
    .insertInto('payout_nonces')
    .values({ network, treasury, next_nonce: next })
    .onConflict((conflict) => conflict.column('network').doUpdateSet({ next_nonce: next }))
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

const sumOf = async (tx: Db | Tx, network: Network, states: readonly PayoutState[]): Promise<Usdc> => {
  const row = await tx
    .selectFrom('payouts')
    .select((select) => sql<bigint>`coalesce(sum(${select.ref('amount_micros')}), 0)::bigint`.as('sum'))
    .where('network', '=', network)
    .where('state', 'in', states)
    .executeTakeFirstOrThrow()
  return usdc(row.sum)
}

/** What may have left the treasury already and is not settled in the books. */
export const inFlight = (db: Db | Tx, network: Network): Promise<Usdc> => sumOf(db, network, ['signed'])

/** What was let through and is not settled: the treasury must hold it beside whatever comes next. */
export const sumPromised = (tx: Tx, network: Network): Promise<Usdc> =>
  sumOf(tx, network, ['numbered', 'signed'])

/** A transfer into the treasury, locked so that nobody claims it meanwhile. */
export async function lockArrival(
  tx: Tx,
  network: Network,
  reference: string,
): Promise<{ state: string; payer: string | null; purpose: string } | undefined> {
  return tx
    .selectFrom('transfers')
    .select(['state', 'payer', 'purpose'])
    .where('network', '=', network)
    .where('reference', '=', reference)
    .forUpdate()
    .executeTakeFirst()
}

/** How the payouts of a network stand: what an operator wants to see rise before anybody complains. */
export interface PayoutFigures {
  readonly network: Network
  /** Asked for and not ended, and for how long the oldest of them has waited. */
  readonly waiting: number
  readonly oldestSeconds: number
  readonly held: number
  readonly failed: number
  readonly shortMicros: bigint
  /** Whether payouts may leave at all. */
  readonly isOpen: boolean
}

/** Of the networks that have a gate; reads what is under way or failed, not what ever was. */
export async function findFigures(db: Db, now: Date): Promise<PayoutFigures[]> {
  const { rows } = await sql<{
    network: Network
    waiting: number
    oldest: Date | null
    held: number
    failed: number
    short_micros: bigint
    is_open: boolean
  }>`
    select gate.network, gate.short_micros, gate.compared_at is not null and gate.short_micros = 0 and gate.database_epoch = ${DATABASE_EPOCH} as is_open,
      coalesce(under_way.waiting, 0)::integer as waiting, under_way.oldest,
      coalesce(under_way.held, 0)::integer as held,
      (select count(*) from payouts where network = gate.network and state = 'failed')::integer as failed
    from payout_guards as gate left join (
      select network, count(*) as waiting, min(created_at) as oldest, count(*) filter (where state = 'held') as held
      from payouts where state in ('queued', 'held', 'numbered', 'signed') group by network
    ) as under_way on under_way.network = gate.network
    order by gate.network`.execute(db)
  return rows.map((row) => ({
    network: row.network,
    waiting: row.waiting,
    oldestSeconds: row.oldest === null ? 0 : Math.max(0, (now.getTime() - row.oldest.getTime()) / 1_000),
    held: row.held,
    failed: row.failed,
    shortMicros: row.short_micros,
    isOpen: row.is_open,
  }))
}
