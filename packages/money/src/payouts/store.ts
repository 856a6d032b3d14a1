import { runSweepCall } from '@market/core/queue'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { nextState } from '@market/kernel/states'
import { sql } from 'kysely'
import { escrowPayers, formatPurpose, transferName } from '../payments/index.ts'
import { type CounterChange, counterChanges } from './counters/counters.ts'
import { applyCounters } from './counters/store.ts'
import { describeHold, type Hold } from './hold.ts'
import { changeCost } from './limits/store.ts'
import type { Payout, PayoutId } from './payout.ts'
import { payoutOf } from './row.ts'
import { type PayoutAction, type PayoutState, TRANSITIONS } from './states.ts'

/** Undefined when this kind of payout of the subject exists already. A worker looks for due payouts at once. */
export async function insertPayout(tx: Tx, dueAt: Date, payout: Payout): Promise<Payout | undefined> {
  const row = await tx
    .insertInto('payouts')
    .values({
      id: payout.id,
      network: payout.network,
      kind: payout.kind,
      subject: payout.subject,
      purpose: payout.purpose === null ? null : formatPurpose(payout.purpose),
      unmatched_from: payout.unmatched?.from ?? null,
      unmatched_transfer: payout.unmatched === null ? null : transferName(payout.unmatched),
      payee: payout.payee,
      amount_micros: payout.amount,
      state: payout.state,
      hold_code: payout.holdCode,
      hold_detail: payout.holdDetail,
      reason: payout.reason,
      round: payout.round,
      agent_id: payout.agentId,
      notified_agent: payout.notifiedAgent,
      not_before: payout.notBefore,
      contested_at: payout.contestedAt,
      created_at: payout.createdAt,
      updated_at: payout.updatedAt,
      due_at: dueAt,
    })
    // It has two unique keys (id; kind and subject), and a concurrent insert may violate either of them first.
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .returning(sql`case when ${IS_FUNDED} then ${runSweepCall('advance-payouts')} end`.as('job'))
    .executeTakeFirst()
  return row && payoutOf(row)
}

/** Otherwise the transaction that makes its payment final wakes it. */
const IS_FUNDED = sql`(purpose is null or exists (
  select from ${escrowPayers} as payment where payment.purpose = payouts.purpose and payment.state = 'final'))`

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

/**
 * Locks payouts, the oldest first. One that another transaction has locked is left out, so that it delays no
 * other and two transactions cannot wait for each other's payouts.
 */
export async function lockPayouts(tx: Tx, ids: readonly PayoutId[]): Promise<Payout[]> {
  const rows = await tx
    .selectFrom('payouts')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::text[])`)
    .orderBy('created_at')
    .orderBy('id')
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map(payoutOf)
}

interface Change {
  /** Why it waits; also sets the reason. */
  readonly hold?: Hold | undefined
  readonly reason?: string
  readonly finalReference?: string
  readonly countsAgainstCaps?: boolean
  readonly opensAccount?: boolean
  /** What the round costs in the native coin. */
  readonly cost?: bigint
}

/**
 * Applies an action of the state table to a locked payout and to the counters of what limits payouts. Without a hold or
 * reason, earlier ones are cleared.
 */
export async function savePayout(
  tx: Tx,
  payout: Payout,
  action: PayoutAction,
  change: Change,
  at: Date,
): Promise<Payout> {
  const saved = await savePayoutOnly(tx, payout, action, change, at)
  await applyCounters(tx, saved.counters)
  return saved.payout
}

export interface Saved {
  readonly payout: Payout
  readonly counters: readonly CounterChange[]
}

/** Leaves it to the caller to apply the changes of counters, once for many payouts. */
export async function savePayoutOnly(
  tx: Tx,
  before: Payout,
  action: PayoutAction,
  change: Change,
  at: Date,
): Promise<Saved> {
  const cost = await changeCost(tx, before, change.cost, at)
  const payout = await updatePayout(tx, before, action, change, at)
  return {
    payout,
    counters: counterChanges({ payout: before, cost: cost.before }, { payout, cost: cost.after }),
  }
}

const COUNTED: readonly PayoutState[] = ['signed', 'final']

/** A payout is counted from when it is signed or found on the chain, as long as it is in one of these states. */
const countedAs = (payout: Payout, state: PayoutState, { countsAgainstCaps }: Change, at: Date) => ({
  counted_at: COUNTED.includes(state) ? (payout.countedAt ?? at) : null,
  counts_against_caps: countsAgainstCaps ?? (payout.countedAt === null || payout.countsAgainstCaps),
})

async function updatePayout(
  tx: Tx,
  payout: Payout,
  action: PayoutAction,
  { hold, reason, ...change }: Change,
  at: Date,
): Promise<Payout> {
  const state = nextState(TRANSITIONS, payout, action)
  const row = await tx
    .updateTable('payouts')
    .set({
      state,
      ...countedAs(payout, state, change, at),
      hold_code: hold?.code ?? null,
      hold_detail: hold?.detail ?? null,
      reason: hold === undefined ? (reason ?? null) : describeHold(hold),
      updated_at: at,
      ...(change.finalReference !== undefined && { final_reference: change.finalReference }),
      ...(change.opensAccount !== undefined && { opens_account: change.opensAccount }),
    })
    .where('id', '=', payout.id)
    .where('state', '=', payout.state)
    .returningAll()
    .executeTakeFirstOrThrow()
  return payoutOf(row)
}

/** Whether the payout already waits for this. */
export const isHeldBy = ({ state, holdCode, holdDetail }: Payout, { code, detail }: Hold): boolean =>
  (state === 'held' || state === 'signed') && holdCode === code && holdDetail === (detail ?? null)

/** The same hold is not stored again, so `updatedAt` is when it began. */
export const saveHold = async (tx: Tx, payout: Payout, hold: Hold, at: Date): Promise<Payout> =>
  isHeldBy(payout, hold) ? payout : savePayout(tx, payout, 'hold', { hold }, at)

/**
 * The chain has used the payout's mark for a payment that is not this payout's, so nothing with that mark can pay it any more.
 * It stays as it is, with another mark and nothing signed.
 */
export async function renewMark(tx: Tx, { id }: Payout, at: Date): Promise<Payout> {
  await tx.updateTable('payout_signatures').set({ is_dead: true }).where('payout_id', '=', id).execute()
  const row = await tx
    .updateTable('payouts')
    .set((set) => ({
      mark_round: set('mark_round', '+', 1),
      round: set('round', '+', 1),
      updated_at: at,
      due_at: at,
    }))
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
  readonly agentId?: AgentId | null
  readonly contestedAt?: Date | null
}

/**
 * Starts another round, due at once. Signatures of earlier rounds no longer count, and an approval counts only for the
 * same payment.
 */
export async function startRound(
  tx: Tx,
  payout: Payout,
  action: 'retry' | 'request' | 'request_without_address',
  at: Date,
  { payee = payout.payee, ...change }: NextRound = {},
): Promise<Payout> {
  const { id, round } = payout
  const { amount = payout.amount, network = payout.network } = change
  const isSame = payee === payout.payee && amount === payout.amount && network === payout.network
  await tx.updateTable('payout_signatures').set({ is_dead: true }).where('payout_id', '=', id).execute()
  const row = await tx
    .updateTable('payouts')
    .set({
      state: nextState(TRANSITIONS, payout, action),
      hold_code: payee === null ? 'no_address' : null,
      hold_detail: null,
      reason: payee === null ? describeHold({ code: 'no_address' }) : null,
      round: round + 1,
      counted_at: null,
      payee,
      updated_at: at,
      due_at: at,
      amount_micros: amount,
      network,
      ...(!isSame && { approval_id: null, approved_at: null }),
      ...(change.agentId !== undefined && { agent_id: change.agentId }),
      ...(change.notBefore !== undefined && { not_before: change.notBefore }),
      ...(change.contestedAt !== undefined && { contested_at: change.contestedAt }),
    })
    .where('id', '=', id)
    .where('state', '=', payout.state)
    .returningAll()
    .returning(runSweepCall('advance-payouts').as('job'))
    .executeTakeFirstOrThrow()
  const next = payoutOf(row)
  await applyCounters(tx, counterChanges({ payout }, { payout: next }))
  return next
}

/** Sets until when a payout waits and since when it is contested, and makes it due then. */
export async function saveWait(
  tx: Tx,
  id: PayoutId,
  { notBefore, contestedAt }: Pick<Payout, 'notBefore' | 'contestedAt'>,
  dueAt: Date,
): Promise<void> {
  await tx
    .updateTable('payouts')
    .set({ not_before: notBefore, contested_at: contestedAt, due_at: dueAt })
    .where('id', '=', id)
    .execute()
}

/** Held until the commit: payouts of a network are authorized one batch after another. */
export async function lockNetwork(tx: Tx, network: Network): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payouts:${network}`}, 0))`.execute(tx)
}
