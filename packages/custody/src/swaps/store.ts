import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { SwapId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { type Selectable, sql } from 'kysely'
import type { Swap, SwapStatus } from './swap.ts'

const swapOf = (row: Selectable<Tables['swap_orders']>): Swap => ({
  id: row.id as SwapId,
  userId: row.user_id,
  wallet: row.wallet,
  amount: usdc(BigInt(row.amount_micros)),
  minOut: BigInt(row.min_out_lamports),
  messageHash: row.message_sha256.toString('hex'),
  makerRequest: row.maker_request,
  lastValidHeight: BigInt(row.last_valid_height),
  status: row.status as SwapStatus,
  signature: row.signature,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  executedAt: row.executed_at,
})

/** False when the message was ordered before. */
export async function insertSwap(tx: Tx, swap: Swap): Promise<boolean> {
  const done = await tx
    .insertInto('swap_orders')
    .values({
      id: swap.id,
      user_id: swap.userId,
      wallet: swap.wallet,
      amount_micros: swap.amount,
      min_out_lamports: swap.minOut,
      message_sha256: Buffer.from(swap.messageHash, 'hex'),
      maker_request: swap.makerRequest,
      last_valid_height: swap.lastValidHeight,
      status: swap.status,
      created_at: swap.createdAt,
      expires_at: swap.expiresAt,
    })
    .onConflict((conflict) => conflict.constraint('swap_orders_message').doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

export async function findSwap(db: Db | Tx, id: SwapId): Promise<Swap | undefined> {
  const row = await db.selectFrom('swap_orders').selectAll().where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : swapOf(row)
}

export async function lockSwap(tx: Tx, id: SwapId): Promise<Swap | undefined> {
  const row = await tx
    .selectFrom('swap_orders')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row === undefined ? undefined : swapOf(row)
}

export async function saveSubmitted(tx: Tx, id: SwapId, signature: string, at: Date): Promise<void> {
  await tx
    .updateTable('swap_orders')
    .set({ status: 'pending', signature, executed_at: at })
    .where('id', '=', id)
    .where('status', '=', 'ordered')
    .execute()
}

export async function saveOutcome(tx: Tx, id: SwapId, status: 'confirmed' | 'failed'): Promise<void> {
  await tx
    .updateTable('swap_orders')
    .set({ status })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute()
}

/** For the deletion of an account. The swaps themselves are on the chain. */
export async function deleteSwapsOf(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('swap_orders').where('user_id', '=', userId).execute()
}

export async function deleteUnexecutedBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select id from swap_orders where status = 'ordered' and created_at < ${before}
      order by created_at limit ${limit} for update skip locked
    )
    delete from swap_orders using old where swap_orders.id = old.id`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

export async function deleteExecutedBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select id from swap_orders where status <> 'ordered' and created_at < ${before}
      order by created_at limit ${limit} for update skip locked
    )
    delete from swap_orders using old where swap_orders.id = old.id`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}
