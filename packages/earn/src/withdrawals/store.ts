import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import { type Selectable, sql } from 'kysely'
import type { Withdrawal, WithdrawalFailure, WithdrawalId, WithdrawalStatus } from './withdrawal.ts'

type Row = Selectable<Tables['earn_withdrawals']>

const withdrawalOf = (row: Row): Withdrawal => ({
  id: row.id as WithdrawalId,
  poolKey: row.pool_key,
  holder: row.holder,
  shares: row.shares === null ? null : BigInt(row.shares),
  destination: row.destination,
  status: row.status as WithdrawalStatus,
  burnedShares: row.burned_shares === null ? null : BigInt(row.burned_shares),
  amount: row.amount_micros === null ? null : usdc(row.amount_micros),
  filled: usdc(row.filled_micros ?? 0n),
  wasLiquid: row.was_liquid,
  failure: row.failure as WithdrawalFailure | null,
  createdAt: row.created_at,
})

export async function insertWithdrawal(
  tx: Tx,
  withdrawal: Pick<Withdrawal, 'id' | 'poolKey' | 'holder' | 'shares' | 'destination' | 'createdAt'>,
): Promise<Withdrawal> {
  const { shares, createdAt } = withdrawal
  const row = await tx
    .insertInto('earn_withdrawals')
    .values({
      id: withdrawal.id,
      pool_key: withdrawal.poolKey,
      holder: withdrawal.holder,
      shares: shares === null ? null : String(shares),
      destination: withdrawal.destination,
      status: 'requested',
      created_at: createdAt,
      updated_at: createdAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return withdrawalOf(row)
}

export async function findWithdrawal(db: Db | Tx, id: string): Promise<Withdrawal | undefined> {
  const row = await db.selectFrom('earn_withdrawals').selectAll().where('id', '=', id).executeTakeFirst()
  return row && withdrawalOf(row)
}

export async function lockWithdrawal(tx: Tx, id: WithdrawalId): Promise<Withdrawal> {
  const row = await tx
    .selectFrom('earn_withdrawals')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  assert(row !== undefined, `${id} is a withdrawal`)
  return withdrawalOf(row)
}

/** Newest first. */
export async function findWithdrawals(
  db: Db,
  holders: readonly string[],
  limit: number,
): Promise<Withdrawal[]> {
  const rows = await db
    .selectFrom('earn_withdrawals')
    .selectAll()
    .where('holder', 'in', [...holders])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(withdrawalOf)
}

/** Withdrawals of a pool in one status, oldest first. */
export async function findInStatus(
  db: Db | Tx,
  status: 'requested' | 'queued',
  limit: number,
  poolKey: string,
): Promise<Withdrawal[]> {
  const rows = await db
    .selectFrom('earn_withdrawals')
    .selectAll()
    .where('status', '=', status)
    .where('pool_key', '=', poolKey)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(withdrawalOf)
}

/** The pools that owe something for burned shares, and how much of it no payout was requested for. */
export async function sumOwed(db: Db | Tx): Promise<ReadonlyMap<string, Usdc>> {
  const { rows } = await sql<{ pool_key: string; owed: bigint }>`
    select pool_key, sum(amount_micros - filled_micros)::bigint as owed from earn_withdrawals
    where status = 'queued' group by pool_key`.execute(db)
  return new Map(rows.map(({ pool_key, owed }) => [pool_key, usdc(owed)]))
}

/** What pools owe, by withdrawal. */
export async function findOwed(
  tx: Tx,
  poolKeys: readonly string[],
): Promise<{ id: WithdrawalId; destination: string; micros: bigint }[]> {
  const { rows } = await sql<{ id: WithdrawalId; destination: string; micros: bigint }>`
    select id, destination, amount_micros - filled_micros as micros from earn_withdrawals
    where status = 'queued' and pool_key = any(${[...poolKeys]}::text[])`.execute(tx)
  return rows
}

type WithdrawalChange =
  | {
      readonly status: 'queued'
      readonly burnedShares: bigint
      readonly amount: Usdc
      readonly wasLiquid: boolean
    }
  | { readonly status: 'rejected'; readonly failure: WithdrawalFailure }

/** Saves a locked withdrawal. */
export async function saveWithdrawal(
  tx: Tx,
  { id }: Withdrawal,
  change: WithdrawalChange,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('earn_withdrawals')
    .set({
      status: change.status,
      updated_at: at,
      ...(change.status === 'queued'
        ? {
            burned_shares: String(change.burnedShares),
            amount_micros: change.amount,
            was_liquid: change.wasLiquid,
          }
        : { failure: change.failure }),
    })
    .where('id', '=', id)
    .execute()
}

/** Adds a part that is paid out now to a locked withdrawal. Returns its number. */
export async function insertFill(tx: Tx, { id }: Withdrawal, amount: Usdc, at: Date): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    insert into earn_fills (withdrawal_id, n, amount_micros, created_at)
    select ${id}, coalesce(max(n), 0) + 1, ${amount}::bigint, ${at}::timestamptz from earn_fills where withdrawal_id = ${id}
    returning n`.execute(tx)
  await sql`
    update earn_withdrawals set filled_micros = filled_micros + ${amount}::bigint, updated_at = ${at}::timestamptz,
      status = case when filled_micros + ${amount}::bigint = amount_micros then 'settled' else status end
    where id = ${id}`.execute(tx)
  const n = rows[0]?.n
  assert(n !== undefined, `a part of ${id} was added`)
  return n
}

export interface Fill {
  readonly withdrawalId: string
  readonly n: number
  readonly amount: Usdc
}

/** The part of a withdrawal that a payout of this subject pays. */
export async function findFillOf(tx: Tx, subject: string): Promise<Fill | undefined> {
  const row = await tx.selectFrom('earn_fills').selectAll().where('subject', '=', subject).executeTakeFirst()
  return row && fillOf(row)
}

const fillOf = (row: Selectable<Tables['earn_fills']>): Fill => ({
  withdrawalId: row.withdrawal_id,
  n: row.n,
  amount: usdc(row.amount_micros),
})

export async function findFills(db: Db | Tx, ids: readonly string[]): Promise<Fill[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('earn_fills')
    .selectAll()
    .where('withdrawal_id', 'in', [...ids])
    .orderBy('withdrawal_id')
    .orderBy('n')
    .execute()
  return rows.map(fillOf)
}

/** Whether the holders wait for a withdrawal. */
export async function hasOpenWithdrawals(tx: Tx, holders: readonly string[]): Promise<boolean> {
  const row = await tx
    .selectFrom('earn_withdrawals')
    .select('id')
    .where('holder', 'in', [...holders])
    .where('status', 'in', ['requested', 'queued'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
