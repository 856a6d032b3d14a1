import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { DAY, earlier } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { findNamed, namedReferences } from '@market/money/payments'
import { type Selectable, sql } from 'kysely'
import type { Deposit, DepositId, DepositStatus, NamedDeposit } from './deposit.ts'

type Row = Selectable<Tables['earn_deposits']>

const depositOf = (row: Row): Deposit => ({
  id: row.id as DepositId,
  poolKey: row.pool_key,
  holder: row.holder,
  network: row.network as Deposit['network'],
  amount: usdc(row.amount_micros),
  status: row.status as DepositStatus,
  venueTransferId: row.venue_transfer_id,
  payer: row.payer,
  shares: row.shares === null ? null : BigInt(row.shares),
  value: row.value_micros === null ? null : usdc(row.value_micros),
  failure: row.failure,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

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
 * The wallets that paid the holder's active deposits into a pool, newest first: shares are paid out to these only. As the
 * worker recorded them, because the api can change which transfer a deposit is paid by.
 */
export async function findPayers(
  db: Db | Tx,
  { poolKey, holder }: Pick<Deposit, 'poolKey' | 'holder'>,
  now: Date,
): Promise<string[]> {
  const { rows } = await sql<Payer>`
    select payer, min(updated_at) as since from earn_deposits
    where pool_key = ${poolKey} and holder = ${holder} and status = 'active'
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

/** Below the negative amount of every deposit. */
const LEAST = -(2n ** 63n)

/** Received deposits of a pool, largest first so that small ones delay no others, after one of them. */
export async function lockReceived(
  tx: Tx,
  poolKey: string,
  limit: number,
  after: Pick<Deposit, 'amount' | 'id'> | undefined,
): Promise<Deposit[]> {
  const { rows } = await sql<Row>`
    select * from earn_deposits where pool_key = ${poolKey} and status = 'received'
      and (-amount_micros, id) > (${after === undefined ? LEAST : -after.amount}, ${after?.id ?? ''})
    order by -amount_micros, id limit ${limit} for update`.execute(tx)
  return rows.map(depositOf)
}

/** The pools with deposits that the worker must do something with. */
export async function findBusyPools(db: Db): Promise<{ key: string; venueTransferId: string | null }[]> {
  const rows = await db
    .selectFrom('earn_deposits')
    .select(['pool_key', 'venue_transfer_id'])
    .distinct()
    .where('status', 'in', ['received', 'deploying'])
    .execute()
  return rows.map(({ pool_key, venue_transfer_id }) => ({
    key: pool_key,
    venueTransferId: venue_transfer_id,
  }))
}

/** The venue transfers of a pool's deposits that have no shares yet. */
export async function findDeploying(tx: Tx, poolKey: string): Promise<string[]> {
  const { rows } = await sql<{ venue_transfer_id: string }>`
    select distinct venue_transfer_id from earn_deposits
    where pool_key = ${poolKey} and status = 'deploying' and venue_transfer_id is not null`.execute(tx)
  return rows.map(({ venue_transfer_id }) => venue_transfer_id)
}

/** The deposits of a move, oldest first. */
export async function lockOfVenueTransfer(tx: Tx, venueTransferId: string): Promise<Deposit[]> {
  const { rows } = await sql<Row>`
    select * from earn_deposits where venue_transfer_id = ${venueTransferId} order by created_at, id for update`.execute(
    tx,
  )
  return rows.map(depositOf)
}

/** The moves of held deposits, whose money may have come back meanwhile. */
export async function findHeldVenueTransfers(db: Db): Promise<string[]> {
  const { rows } = await sql<{ venue_transfer_id: string }>`
    select distinct venue_transfer_id from earn_deposits where status = 'held' and venue_transfer_id is not null`.execute(
    db,
  )
  return rows.map(({ venue_transfer_id }) => venue_transfer_id)
}

type DepositChange =
  | { readonly status: 'waiting' | 'received' }
  | { readonly status: 'deploying'; readonly venueTransferId: string; readonly payer: string }
  | { readonly status: 'active'; readonly shares: bigint; readonly value: Usdc }
  | { readonly status: 'refunded' | 'held' | 'failed'; readonly failure: string }

const LONGEST_FAILURE = 300

/** Saves a locked deposit. */
export async function saveDeposit(tx: Tx, { id }: Deposit, change: DepositChange, at: Date): Promise<void> {
  await tx
    .updateTable('earn_deposits')
    .set({
      status: change.status,
      updated_at: at,
      ...((change.status === 'waiting' || change.status === 'received') && {
        venue_transfer_id: null,
        payer: null,
        failure: null,
      }),
      ...('venueTransferId' in change && { venue_transfer_id: change.venueTransferId, payer: change.payer }),
      ...('shares' in change && { shares: String(change.shares), value_micros: change.value }),
      ...('failure' in change && { failure: change.failure.slice(0, LONGEST_FAILURE) }),
    })
    .where('id', '=', id)
    .execute()
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
