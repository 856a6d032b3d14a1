import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import { type Selectable, sql } from 'kysely'
import type { Withdrawal, WithdrawalFailure, WithdrawalId } from './withdrawal.ts'

type Row = Selectable<Tables['earn_withdrawals']>

const withdrawalOf = rowReader<Row, Withdrawal>()(
  columns(
    'earn_withdrawals',
    'shares',
    'burned_shares',
    'open_shares',
    'recalled_shares',
    'paid_micros',
    'filled_micros',
    'updated_at',
  ),
  {
    shares: (row) => (row.shares === null ? null : BigInt(row.shares)),
    burnedShares: (row) => (row.burned_shares === null ? null : BigInt(row.burned_shares)),
    openShares: (row) => BigInt(row.open_shares),
    recalledShares: (row) => BigInt(row.recalled_shares),
    paid: (row) => usdc(row.paid_micros),
    filled: (row) => usdc(row.filled_micros),
  },
)

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

/** Those of a pool that wait for the worker to take the shares, oldest first. */
export async function findRequested(db: Db, poolKey: string, limit: number): Promise<Withdrawal[]> {
  const rows = await db
    .selectFrom('earn_withdrawals')
    .selectAll()
    .where('status', '=', 'requested')
    .where('pool_key', '=', poolKey)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(withdrawalOf)
}

/** Those of a pool or of holders that are not paid as a whole. */
export async function findQueued(
  db: Db | Tx,
  of: { readonly poolKey: string } | { readonly holders: readonly string[] },
): Promise<Withdrawal[]> {
  const rows = await db
    .selectFrom('earn_withdrawals')
    .selectAll()
    .where('status', '=', 'queued')
    .$if('poolKey' in of, (query) => query.where('pool_key', '=', 'poolKey' in of ? of.poolKey : ''))
    .$if('holders' in of, (query) =>
      query.where('holder', 'in', 'holders' in of ? [...of.holders, ''] : ['']),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(withdrawalOf)
}

/** What is owed of what vaults paid, by withdrawal. */
export async function findOwed(
  tx: Tx,
  poolKeys: readonly string[],
): Promise<{ id: WithdrawalId; destination: string; micros: bigint }[]> {
  const { rows } = await sql<{ id: WithdrawalId; destination: string; micros: bigint }>`
    select id, destination, paid_micros - filled_micros as micros from earn_withdrawals
    where status = 'queued' and paid_micros > filled_micros and pool_key = any(${[...poolKeys]}::text[])`.execute(
    tx,
  )
  return rows
}

/** The worker's decision about a locked withdrawal: the shares that it has now, or why it has none. */
export async function saveDecision(
  tx: Tx,
  { id }: Withdrawal,
  decision: { readonly shares: bigint } | { readonly failure: WithdrawalFailure },
  at: Date,
): Promise<void> {
  const shares = 'shares' in decision ? String(decision.shares) : undefined
  await tx
    .updateTable('earn_withdrawals')
    .set({
      updated_at: at,
      ...('failure' in decision
        ? { status: 'rejected', failure: decision.failure }
        : { status: 'queued', burned_shares: shares, open_shares: shares }),
    })
    .where('id', '=', id)
    .execute()
}

interface Change {
  readonly open?: bigint
  readonly recalled?: bigint
  readonly paid?: bigint
  readonly filled?: bigint
}

/** By how much a locked withdrawal changes. It is settled when nothing is open, and payouts of all that was paid were requested. */
export async function changeWithdrawal(
  tx: Tx,
  id: string,
  { open = 0n, recalled = 0n, paid = 0n, filled = 0n }: Change,
  at: Date,
): Promise<void> {
  await sql`
    update earn_withdrawals set updated_at = ${at}::timestamptz, open_shares = open_shares + ${String(open)}::numeric,
      recalled_shares = recalled_shares + ${String(recalled)}::numeric,
      paid_micros = paid_micros + ${paid}::bigint, filled_micros = filled_micros + ${filled}::bigint,
      status = case when open_shares + recalled_shares + ${String(open + recalled)}::numeric = 0
        and filled_micros + ${filled}::bigint = paid_micros + ${paid}::bigint then 'settled' else 'queued' end
    where id = ${id}`.execute(tx)
}

/** Adds a payout of a locked withdrawal. Returns its number. */
export async function insertFill(tx: Tx, { id }: Withdrawal, amount: Usdc, at: Date): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    insert into earn_fills (withdrawal_id, n, amount_micros, created_at)
    select ${id}, coalesce(max(n), 0) + 1, ${amount}::bigint, ${at}::timestamptz from earn_fills where withdrawal_id = ${id}
    returning n`.execute(tx)
  await changeWithdrawal(tx, id, { filled: amount }, at)
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

/** What withdrawals from some pools have paid to a wallet before one of their parts. */
export async function sumPaidOut(
  tx: Tx,
  poolKeys: readonly string[],
  destination: string,
  before: Fill,
): Promise<Usdc> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(fill.amount_micros), 0)::bigint as sum
    from earn_fills as fill join earn_withdrawals as withdrawal on withdrawal.id = fill.withdrawal_id
    where destination = ${destination} and pool_key = any(${[...poolKeys]}::text[]) and (fill.created_at, subject) <
      (select created_at, subject from earn_fills where (withdrawal_id, n) = (${before.withdrawalId}, ${before.n}))`.execute(
    tx,
  )
  return usdc(rows[0]?.sum ?? 0n)
}

/** The holders' withdrawals that the worker did not decide yet. */
export async function hasRequested(tx: Tx, holders: readonly string[]): Promise<boolean> {
  const row = await tx
    .selectFrom('earn_withdrawals')
    .select('id')
    .where('holder', 'in', [...holders])
    .where('status', '=', 'requested')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
