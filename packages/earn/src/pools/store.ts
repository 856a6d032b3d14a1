import type { VenueMarket } from '@market/core/ports/venue'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { usdc } from '@market/kernel/money'
import { type Selectable, sql } from 'kysely'
import type { PauseReason, Pool, PoolReading, Position } from './pool.ts'
import type { Ratio } from './shares.ts'

type Row = Selectable<Tables['earn_pools']>

const poolOf = (row: Row): Pool => ({
  key: row.key,
  network: row.network as Pool['network'],
  kind: row.kind as Pool['kind'],
  vault: row.vault,
  wallet: row.wallet,
  totalShares: BigInt(row.total_shares),
  queuedShares: BigInt(row.queued_shares),
  venueShares: BigInt(row.venue_shares),
  ratio:
    row.ratio_shares === null
      ? null
      : { vaultShares: BigInt(row.ratio_vault_shares ?? 0n), shares: BigInt(row.ratio_shares) },
  reading:
    row.read_at === null
      ? null
      : {
          at: row.read_at,
          price: { value: usdc(row.value_micros ?? 0n), vaultShares: BigInt(row.valued_shares ?? 0n) },
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

/** A pool without vault shares keeps its price: that of what is being redeemed. */
export async function saveReading(
  tx: Tx,
  key: string,
  { at, price, tvl, liquid, acceptsDeposits }: PoolReading,
  paused: PauseReason | null,
): Promise<void> {
  const isValued = price.vaultShares > 0n
  await sql`
    update earn_pools set read_at = ${at}::timestamptz, tvl_micros = ${tvl}::bigint, liquid_micros = ${liquid}::bigint,
      accepts_deposits = ${acceptsDeposits}, paused = ${paused},
      value_micros = case when ${isValued} then ${price.value}::bigint else coalesce(value_micros, 0) end,
      valued_shares = case when ${isValued} then ${String(price.vaultShares)}::numeric else coalesce(valued_shares, 0) end
    where key = ${key}`.execute(tx)
}

export async function savePause(tx: Tx, key: string, paused: PauseReason | null): Promise<void> {
  await tx.updateTable('earn_pools').set({ paused }).where('key', '=', key).execute()
}

/** What was taken out of a locked pool for a recall (below zero), or comes back from one that did not redeem it. */
export async function addRecalled(
  tx: Tx,
  key: string,
  { vaultShares, shares }: { readonly vaultShares: bigint; readonly shares: bigint },
): Promise<void> {
  await sql`
    update earn_pools set venue_shares = venue_shares + ${String(vaultShares)}::numeric,
      queued_shares = queued_shares + ${String(shares)}::numeric where key = ${key}`.execute(tx)
}

/** The vault's shares of a locked pool after a receipt or a loss, and the ratio since then. */
export async function saveVaultShares(
  tx: Tx,
  key: string,
  venueShares: bigint,
  ratio: Ratio | null,
): Promise<void> {
  await tx
    .updateTable('earn_pools')
    .set({
      venue_shares: String(venueShares),
      ratio_vault_shares: ratio && String(ratio.vaultShares),
      ratio_shares: ratio && String(ratio.shares),
    })
    .where('key', '=', key)
    .execute()
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

/** Of a locked pool: takes shares from the position of a holder, who has them. They stay shares, of a withdrawal. */
export async function queueShares(
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
  await addRecalled(tx, poolKey, { vaultShares: 0n, shares })
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
