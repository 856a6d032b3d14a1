import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Tables } from '@market/database/tables'
import { brokenConstraint, type Db, type Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { TokenMode } from '../tokens/index.ts'
import type {
  CreatorFee,
  CreatorFeeId,
  CreatorFeeStatus,
  FeeTotal,
  FeeTotals,
  Settlement,
} from './creator-fee.ts'

type Row = Selectable<Tables['creator_fees']>

const settlementOf = ({ payment_tx: tx, paid_by: by, paid_at: at }: Row): Settlement | null =>
  tx === null || by === null || at === null ? null : { tx, by, at }

const feeOf = (row: Row): CreatorFee => ({
  id: row.id as CreatorFeeId,
  agentId: row.agent_id as AgentId,
  mint: row.mint,
  mode: row.mode as TokenMode,
  amount: row.amount_lamports,
  shares: { agent: row.agent_lamports, partner: row.partner_lamports, buyback: row.buyback_lamports },
  sourceTx: row.source_tx,
  recordedBy: row.recorded_by,
  createdAt: row.created_at,
  settlement: settlementOf(row),
  reversal:
    row.approval_id === null || row.reversed_at === null
      ? null
      : { approvalId: row.approval_id, at: row.reversed_at },
})

/** As the partial index writes it: with a parameter Postgres would not find the index. */
const COUNTS = sql<SqlBool>`status <> 'reversed'`

/** A fee whose transactions count. */
type NewFee = Omit<CreatorFee, 'settlement' | 'reversal'>

/** Returns false when a fee of this transaction is recorded. Waits for a concurrent request that records one. */
export async function insertFee(tx: Tx, fee: NewFee): Promise<boolean> {
  const done = await tx
    .insertInto('creator_fees')
    .values({
      id: fee.id,
      agent_id: fee.agentId,
      mint: fee.mint,
      mode: fee.mode,
      amount_lamports: fee.amount,
      agent_lamports: fee.shares.agent,
      partner_lamports: fee.shares.partner,
      buyback_lamports: fee.shares.buyback,
      source_tx: fee.sourceTx,
      status: 'accrued',
      recorded_by: fee.recordedBy,
      created_at: fee.createdAt,
    })
    .onConflict((conflict) => conflict.column('source_tx').where(COUNTS).doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

export async function findFee(db: Db | Tx, id: string): Promise<CreatorFee | undefined> {
  const row = await db.selectFrom('creator_fees').selectAll().where('id', '=', id).executeTakeFirst()
  return row && feeOf(row)
}

export async function findFeeBySource(db: Db | Tx, sourceTx: string): Promise<CreatorFee | undefined> {
  const row = await db
    .selectFrom('creator_fees')
    .selectAll()
    .where('source_tx', '=', sourceTx)
    .where('status', '<>', 'reversed')
    .executeTakeFirst()
  return row && feeOf(row)
}

/** Locks the row until the transaction ends. */
export async function lockFee(tx: Tx, id: CreatorFeeId): Promise<CreatorFee | undefined> {
  const row = await tx
    .selectFrom('creator_fees')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && feeOf(row)
}

/** Settles a locked fee. Returns undefined when the transaction settled another fee; then nothing else can be saved. */
export async function saveSettlement(
  tx: Tx,
  id: CreatorFeeId,
  settlement: Settlement,
): Promise<CreatorFee | undefined> {
  try {
    const row = await tx
      .updateTable('creator_fees')
      .set({
        status: 'settled',
        payment_tx: settlement.tx,
        paid_by: settlement.by,
        paid_at: settlement.at,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return feeOf(row)
  } catch (error) {
    if (brokenConstraint(error) === 'creator_fees_payment_tx_key') return undefined
    throw error
  }
}

/** Reverses a locked fee. The database requires the approval at the commit. */
export async function saveReversal(
  tx: Tx,
  id: CreatorFeeId,
  { approvalId, at }: { readonly approvalId: string; readonly at: Date },
): Promise<void> {
  await tx
    .updateTable('creator_fees')
    .set({ status: 'reversed', approval_id: approvalId, reversed_at: at })
    .where('id', '=', id)
    .execute()
}

export interface FeeFilter {
  readonly agentId?: string | undefined
  readonly status?: CreatorFeeStatus | undefined
}

/** Newest first. */
export async function findFees(
  db: Db | Tx,
  { agentId, status }: FeeFilter,
  page: NewestFirstPage,
): Promise<CreatorFee[]> {
  let query = db.selectFrom('creator_fees').selectAll()
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (status !== undefined) query = query.where('status', '=', status)
  const rows = await query.$call(newestFirstPage(page)).execute()
  return rows.map(feeOf)
}

const NONE: FeeTotal = { count: 0, amount: 0n, shares: { agent: 0n, partner: 0n, buyback: 0n } }

/** Sums of bigint columns are numeric in Postgres, so they are read as text. */
export async function sumFees(db: Db | Tx, agentId: string | undefined): Promise<FeeTotals> {
  const { rows } = await sql<Record<'status' | 'count' | 'amount' | 'agent' | 'partner' | 'buyback', string>>`
    select status, count(*)::text as count, sum(amount_lamports)::text as amount, sum(agent_lamports)::text as agent,
      sum(partner_lamports)::text as partner, sum(buyback_lamports)::text as buyback
    from creator_fees where ${agentId === undefined ? sql`true` : sql`agent_id = ${agentId}`}
    group by status`.execute(db)
  const totalOf = (status: keyof FeeTotals): FeeTotal => {
    const row = rows.find((one) => one.status === status)
    if (row === undefined) return NONE
    return {
      count: Number(row.count),
      amount: BigInt(row.amount),
      shares: { agent: BigInt(row.agent), partner: BigInt(row.partner), buyback: BigInt(row.buyback) },
    }
  }
  return { accrued: totalOf('accrued'), settled: totalOf('settled') }
}
