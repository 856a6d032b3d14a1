import type { VenueMarket, VenueReading } from '@market/core/ports/venue'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { usdc } from '@market/kernel/money'
import { type Selectable, sql } from 'kysely'
import type { PauseReason, Pool, Position } from './pool.ts'

type Row = Selectable<Tables['earn_pools']>

const poolOf = (row: Row): Pool => ({
  key: row.key,
  network: row.network as Pool['network'],
  kind: row.kind as Pool['kind'],
  vault: row.vault,
  wallet: row.wallet,
  totalShares: BigInt(row.total_shares),
  venueShares: BigInt(row.venue_shares),
  reading:
    row.read_at === null
      ? null
      : {
          at: row.read_at,
          value: usdc(row.value_micros ?? 0n),
          tvl: usdc(row.tvl_micros ?? 0n),
          liquid: usdc(row.liquid_micros ?? 0n),
          acceptsDeposits: row.accepts_deposits,
        },
  paused: row.paused as PauseReason | null,
})

const positionOf = (row: Selectable<Tables['earn_positions']>): Position => ({
  poolKey: row.pool_key,
  holder: row.holder,
  shares: BigInt(row.shares),
  principal: usdc(row.principal_micros),
})

/** Adds the pool of a configured market unless it is there, perhaps with another vault or wallet, and locks it. */
export async function insertPool(
  tx: Tx,
  { key, network, kind, vault }: VenueMarket,
  wallet: string,
  at: Date,
): Promise<Pool> {
  await tx
    .insertInto('earn_pools')
    .values({ key, network, kind, vault, wallet, created_at: at })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  return lockPool(tx, key)
}

export async function findPools(db: Db | Tx): Promise<Pool[]> {
  const rows = await db.selectFrom('earn_pools').selectAll().orderBy('created_at').orderBy('key').execute()
  return rows.map(poolOf)
}

export async function findPool(db: Db | Tx, key: string): Promise<Pool | undefined> {
  const row = await db.selectFrom('earn_pools').selectAll().where('key', '=', key).executeTakeFirst()
  return row && poolOf(row)
}

/** Locks the pool: whatever changes shares or their value does this first. */
export async function lockPool(tx: Tx, key: string): Promise<Pool> {
  const row = await tx
    .selectFrom('earn_pools')
    .selectAll()
    .where('key', '=', key)
    .forUpdate()
    .executeTakeFirst()
  assert(row !== undefined, `${key} is a pool`)
  return poolOf(row)
}

export async function saveReading(
  tx: Tx,
  key: string,
  reading: Omit<VenueReading, 'price' | 'isHonest'> & { readonly paused: PauseReason | null },
  at: Date,
): Promise<void> {
  await tx
    .updateTable('earn_pools')
    .set({
      read_at: at,
      value_micros: reading.value,
      tvl_micros: reading.tvl,
      liquid_micros: reading.liquid,
      accepts_deposits: reading.acceptsDeposits,
      paused: reading.paused,
    })
    .where('key', '=', key)
    .execute()
}

export async function savePause(tx: Tx, key: string, paused: PauseReason | null): Promise<void> {
  await tx.updateTable('earn_pools').set({ paused }).where('key', '=', key).execute()
}

/** Of a locked pool: adds shares of the vault, or takes them off. */
export async function addVenueShares(tx: Tx, key: string, shares: bigint): Promise<void> {
  await sql`
    update earn_pools set venue_shares = venue_shares + ${String(shares)}::numeric where key = ${key}`.execute(
    tx,
  )
}

/** Of a locked pool: gives shares to a holder. */
export async function mintShares(
  tx: Tx,
  { poolKey, holder, shares, principal }: Position,
  at: Date,
): Promise<void> {
  await sql`
    insert into earn_positions (pool_key, holder, shares, principal_micros, updated_at)
    values (${poolKey}, ${holder}, ${String(shares)}::numeric, ${principal}, ${at})
    on conflict (pool_key, holder) do update set
      shares = earn_positions.shares + excluded.shares,
      principal_micros = earn_positions.principal_micros + excluded.principal_micros,
      updated_at = excluded.updated_at`.execute(tx)
  await addTotal(tx, poolKey, shares)
}

/** Of a locked pool: takes shares from a holder, who has them. */
export async function burnShares(
  tx: Tx,
  { poolKey, holder, shares, principal }: Position,
  at: Date,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update earn_positions set shares = shares - ${String(shares)}::numeric,
      principal_micros = principal_micros - ${principal}, updated_at = ${at}
    where pool_key = ${poolKey} and holder = ${holder}`.execute(tx)
  // Otherwise the total would fall and nobody would have fewer shares.
  assert(numAffectedRows === 1n, `${holder} has shares of ${poolKey}`)
  await addTotal(tx, poolKey, -shares)
}

const addTotal = (tx: Tx, key: string, shares: bigint) =>
  sql`update earn_pools set total_shares = total_shares + ${String(shares)}::numeric where key = ${key}`.execute(
    tx,
  )

export async function findPosition(
  db: Db | Tx,
  poolKey: string,
  holder: string,
): Promise<Position | undefined> {
  const row = await db
    .selectFrom('earn_positions')
    .selectAll()
    .where('pool_key', '=', poolKey)
    .where('holder', '=', holder)
    .executeTakeFirst()
  return row && positionOf(row)
}

/** Everyone with shares of a pool. */
export async function findHolders(tx: Tx, poolKey: string): Promise<Position[]> {
  const rows = await tx
    .selectFrom('earn_positions')
    .selectAll()
    .where('pool_key', '=', poolKey)
    .where('shares', '>', '0')
    .orderBy('holder')
    .execute()
  return rows.map(positionOf)
}

/** Those with shares. */
export async function findPositions(db: Db | Tx, holders: readonly string[]): Promise<Position[]> {
  if (holders.length === 0) return []
  const rows = await db
    .selectFrom('earn_positions')
    .selectAll()
    .where('holder', 'in', [...holders])
    .where('shares', '>', '0')
    .orderBy('holder')
    .orderBy('pool_key')
    .execute()
  return rows.map(positionOf)
}

/** The price of the vault's share at one time. */
export interface PricePoint {
  readonly at: Date
  readonly price: bigint
}

/** Of a locked pool: adds a price unless there is one since a time, and then deletes those that are too old. */
export async function addPrice(
  tx: Tx,
  key: string,
  { at, price }: PricePoint,
  { unlessSince, deleteBefore }: { readonly unlessSince: Date; readonly deleteBefore: Date },
): Promise<void> {
  const { numAffectedRows } = await sql`
    insert into earn_prices (pool_key, at, price)
    select ${key}, ${at}::timestamptz, ${String(price)}::numeric
    where not exists (select from earn_prices where pool_key = ${key} and at > ${unlessSince}::timestamptz)
    on conflict (pool_key, at) do nothing`.execute(tx)
  if (numAffectedRows === 0n) return
  await tx.deleteFrom('earn_prices').where('pool_key', '=', key).where('at', '<', deleteBefore).execute()
}

/** The first and the last price of each pool since a time. */
export async function findPriceEnds(
  db: Db | Tx,
  keys: readonly string[],
  since: Date,
): Promise<ReadonlyMap<string, readonly PricePoint[]>> {
  const { rows } = await sql<{ key: string; at: Date; price: string }>`
    select pool.key, point.at, point.price::text as price from unnest(${keys}::text[]) as pool (key), lateral (
      (select at, price from earn_prices where pool_key = pool.key and at >= ${since}::timestamptz order by at limit 1)
      union
      (select at, price from earn_prices where pool_key = pool.key and at >= ${since}::timestamptz order by at desc limit 1)
    ) as point`.execute(db)
  return Map.groupBy(
    rows.map(({ key, at, price }) => ({ key, at, price: BigInt(price) })),
    ({ key }) => key,
  )
}
