import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { DAY, earlier } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { findNamed, namedReferences } from '@market/money/payments'
import { type Selectable, sql } from 'kysely'
import type { Deposit, NamedDeposit } from './deposit.ts'

type Row = Selectable<Tables['earn_deposits']>

const depositOf = rowReader<Row, Deposit>()(
  columns('earn_deposits', 'amount_micros', 'moved_micros', 'shares', 'value_micros'),
  {
    amount: (row) => usdc(row.amount_micros),
    moved: (row) => usdc(row.moved_micros),
    shares: (row) => (row.shares === null ? null : BigInt(row.shares)),
    value: (row) => (row.value_micros === null ? null : usdc(row.value_micros)),
  },
)

export async function insertDeposit(tx: Tx, deposit: Deposit): Promise<void> {
  await tx
    .insertInto('earn_deposits')
    .values({
      id: deposit.id,
      pool_key: deposit.poolKey,
      holder: deposit.holder,
      network: deposit.network,
      amount_micros: deposit.amount,
      status: deposit.status,
      created_at: deposit.createdAt,
      updated_at: deposit.createdAt,
    })
    .execute()
}

/** The deposit for which the holder named the transaction; none that failed. */
export async function findNamedDeposit(
  db: Db | Tx,
  { holder, network, reference }: Pick<NamedDeposit, 'holder' | 'network' | 'reference'>,
): Promise<NamedDeposit | undefined> {
  const asked = { kind: 'earn_deposit', scope: holder, named: { network, reference } } as const
  const ids = (await findNamed(db, asked)).map(({ id }) => id)
  if (ids.length === 0) return undefined
  const row = await db
    .selectFrom('earn_deposits')
    .selectAll()
    .where('id', 'in', ids)
    .where('status', '<>', 'failed')
    .executeTakeFirst()
  return row && { ...depositOf(row), reference }
}

export async function lockDeposit(tx: Tx, id: string): Promise<Deposit> {
  const row = await tx
    .selectFrom('earn_deposits')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  assert(row !== undefined, `${id} is a deposit`)
  return depositOf(row)
}

/** Newest first. */
export async function findDeposits(
  db: Db,
  holders: readonly string[],
  limit: number,
): Promise<NamedDeposit[]> {
  const { rows } = await sql<Row & { reference: string }>`
    select earn_deposits.*, (select min(reference) from ${namedReferences} as named
      where kind = 'earn_deposit' and named.id = earn_deposits.id) as reference
    from earn_deposits where holder = any(${[...holders]}::text[])
    order by created_at desc, id desc limit ${limit}`.execute(db)
  return rows.map((row) => ({ ...depositOf(row), reference: row.reference }))
}

interface Payer {
  readonly payer: string
  /** Since when one of its deposits has shares. */
  readonly since: Date
}

/**
 * The wallets that paid the holder's deposits with shares of a pool, newest first: shares are paid out to these only. As the
 * worker recorded them, because the api can change which transfer a deposit is paid by.
 */
export async function findPayers(
  db: Db | Tx,
  { poolKey, holder }: Pick<Deposit, 'poolKey' | 'holder'>,
  now: Date,
): Promise<string[]> {
  const { rows } = await sql<Payer>`
    select payer, min(updated_at) as since from earn_deposits
    where pool_key = ${poolKey} and holder = ${holder} and shares is not null
    group by payer order by max(created_at) desc, max(id) desc`.execute(db)
  return rows.filter((row) => isDestination(row, rows, holder, now)).map(({ payer }) => payer)
}

/** How long shares are not paid out to a further wallet of an account. */
const NEW_WALLET_MS = DAY

/**
 * Somebody with the rights of the api can pay a small deposit for another holder. So a wallet that holds shares itself is paid
 * only there, and an account or agent at the wallet of its first deposit, and at others after a day.
 */
function isDestination({ payer, since }: Payer, all: readonly Payer[], holder: string, now: Date): boolean {
  const isKnown = all.every((other) => since <= other.since) || since <= earlier(now, NEW_WALLET_MS)
  // fix: payer-of-another-holder
  return holder.startsWith('wallet:') ? holder === `wallet:${payer}` : isKnown
}

/**
 * Received deposits of a pool after one of them, of which something was not moved yet. Who waited longest, or was not given a part for
 * the longest time, comes first; those below 1 USD come last, so that they delay no others.
 */
export async function lockReceived(
  tx: Tx,
  poolKey: string,
  limit: number,
  after: Pick<Deposit, 'amount' | 'updatedAt' | 'id'> | undefined,
): Promise<Deposit[]> {
  const from = after ?? { amount: 1_000_000n, updatedAt: new Date(0), id: '' }
  const { rows } = await sql<Row>`
    select * from earn_deposits where pool_key = ${poolKey} and status in ('received', 'deploying')
      and moved_micros < amount_micros and (amount_micros < 1000000, updated_at, id) >
        (${from.amount < 1_000_000n}, ${from.updatedAt}::timestamptz, ${from.id})
    order by amount_micros < 1000000, updated_at, id limit ${limit} for update`.execute(tx)
  return rows.map(depositOf)
}

/** The pools with deposits that can be moved to the venue. */
export async function findBusyPools(db: Db): Promise<string[]> {
  const { rows } = await sql<{ pool_key: string }>`
    select distinct pool_key from earn_deposits
    where status in ('received', 'deploying') and moved_micros < amount_micros`.execute(db)
  return rows.map(({ pool_key }) => pool_key)
}

/** The venue transfers with parts of deposits that have no shares yet. */
export async function findOpenVenueTransfers(db: Db | Tx, poolKey?: string): Promise<string[]> {
  const { rows } = await sql<{ venue_transfer_id: string }>`
    select distinct venue_transfer_id from earn_deposit_parts as part
    join earn_deposits as deposit on deposit.id = part.deposit_id
    where part.shares is null and deposit.status in ('deploying', 'held')
      and (${poolKey ?? null}::text is null or pool_key = ${poolKey ?? null})`.execute(db)
  return rows.map(({ venue_transfer_id }) => venue_transfer_id)
}

/** Whether deposits of a locked pool are on their way to the venue or have no shares yet. What is held delays no others. */
export async function isDeploying(tx: Tx, poolKey: string): Promise<boolean> {
  const { rows } = await sql`
    select from earn_deposit_parts as part join earn_deposits as deposit on deposit.id = part.deposit_id
    where part.shares is null and deposit.status = 'deploying' and pool_key = ${poolKey} limit 1`.execute(tx)
  return rows.length > 0
}

export interface Part {
  readonly deposit: Deposit
  readonly amount: Usdc
}

/** The parts of a venue transfer that have no shares yet, in the order of the deposits. */
export async function lockParts(tx: Tx, venueTransferId: string): Promise<Part[]> {
  const { rows } = await sql<Row & { part_micros: bigint }>`
    select deposit.*, part.amount_micros as part_micros
    from earn_deposit_parts as part join earn_deposits as deposit on deposit.id = part.deposit_id
    where venue_transfer_id = ${venueTransferId} and part.shares is null
    order by deposit.created_at, deposit.id for update`.execute(tx)
  return rows.map(({ part_micros, ...row }) => ({ deposit: depositOf(row), amount: usdc(part_micros) }))
}

export async function insertPart(
  tx: Tx,
  venueTransferId: string,
  { id }: Deposit,
  amount: Usdc,
): Promise<void> {
  await tx
    .insertInto('earn_deposit_parts')
    .values({ venue_transfer_id: venueTransferId, deposit_id: id, amount_micros: amount })
    .execute()
}

export async function saveMinted(
  tx: Tx,
  venueTransferId: string,
  { id }: Deposit,
  shares: bigint,
): Promise<void> {
  await tx
    .updateTable('earn_deposit_parts')
    .set({ shares: String(shares) })
    .where('venue_transfer_id', '=', venueTransferId)
    .where('deposit_id', '=', id)
    .execute()
}

/** Of a venue transfer whose money came back. */
export async function deleteParts(tx: Tx, venueTransferId: string): Promise<void> {
  await tx.deleteFrom('earn_deposit_parts').where('venue_transfer_id', '=', venueTransferId).execute()
}

type DepositChange =
  | { readonly status: 'waiting' | 'received' | 'deploying' }
  | { readonly status: 'deploying'; readonly moved: Usdc; readonly payer: string }
  | { readonly status: 'deploying' | 'active'; readonly shares: bigint; readonly value: Usdc }
  | { readonly status: 'active' | 'refunded' | 'held' | 'failed'; readonly failure: string }

const LONGEST_FAILURE = 300

/** Saves a locked deposit, with what of it was moved. */
export async function saveDeposit(
  tx: Tx,
  { id, moved }: Deposit,
  change: DepositChange,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('earn_deposits')
    .set({
      status: change.status,
      moved_micros: moved,
      updated_at: at,
      ...((change.status === 'waiting' || change.status === 'received') && { payer: null, failure: null }),
      ...('moved' in change && { moved_micros: change.moved, payer: change.payer }),
      ...('shares' in change && { shares: String(change.shares), value_micros: change.value, failure: null }),
      ...('failure' in change && { failure: change.failure.slice(0, LONGEST_FAILURE) }),
    })
    .where('id', '=', id)
    .execute()
}

/** What a wallet paid into pools of a network and got shares for. */
export async function sumPaidIn(tx: Tx, network: Deposit['network'], payer: string): Promise<Usdc> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(part.amount_micros), 0)::bigint as sum
    from earn_deposit_parts as part join earn_deposits as deposit on deposit.id = part.deposit_id
    where part.shares is not null and network = ${network} and payer = ${payer}`.execute(tx)
  return usdc(rows[0]?.sum ?? 0n)
}

/** How many transfers of a holder are waited for. */
export async function countWaiting(tx: Tx, holder: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from earn_deposits where holder = ${holder} and status = 'waiting'`.execute(
    tx,
  )
  return rows[0]?.count ?? 0
}

/** Whether money of the holders is on its way into a pool. */
export async function hasOpenDeposits(tx: Tx, holders: readonly string[]): Promise<boolean> {
  const row = await tx
    .selectFrom('earn_deposits')
    .select('id')
    .where('holder', 'in', [...holders])
    .where('status', 'in', ['waiting', 'received', 'deploying', 'held'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
