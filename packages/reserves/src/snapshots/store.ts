import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { later, MINUTE } from '@market/kernel/clock'
import type { TreeNode } from '@market/kernel/merkle'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { InFlightList, Snapshot, SnapshotId } from './snapshot.ts'

type SnapshotRow = Omit<Selectable<Tables['reserve_snapshots']>, 'groups'>

const snapshotOf = (row: SnapshotRow): Snapshot => ({
  id: row.id as SnapshotId,
  network: row.network as Network,
  takenAt: row.taken_at,
  treasury: row.treasury,
  cold: row.cold_address === null ? null : { address: row.cold_address, held: usdc(row.cold_micros ?? 0n) },
  final: usdc(row.final_micros),
  latest: usdc(row.latest_micros),
  balances: {
    ledger: row.ledger_micros,
    venues: usdc(row.venues_micros),
    inFlight: usdc(row.in_flight_micros),
    unfinal: usdc(row.unfinal_micros),
    escrow: usdc(row.escrow_micros),
    payable: usdc(row.payable_micros),
    surplus: usdc(row.surplus_micros),
    suspense: usdc(row.suspense_micros),
    earn: usdc(row.earn_micros),
    fees: usdc(row.fees_micros),
  },
  short: usdc(row.short_micros),
  proof: row.root === null ? null : { root: row.root, leaves: row.leaf_count ?? 0 },
  day: row.day,
  inFlight: inFlightOf(row),
  wallets:
    row.wallets_root === null
      ? null
      : { root: row.wallets_root, count: row.wallet_count ?? 0, total: usdc(row.wallets_micros ?? 0n) },
})

/** As stored: the newest reference, those that it replaces, and the amount. */
type InFlightRow = readonly [reference: string, replaces: readonly string[], micros: string]

function inFlightOf({ in_flight, in_flight_count }: SnapshotRow): InFlightList {
  const transactions = (in_flight as readonly InFlightRow[]).map(([reference, replaces, micros]) => ({
    reference,
    replaces,
    amount: usdc(BigInt(micros)),
  }))
  return { transactions, count: in_flight_count }
}

const inFlightRows = ({ transactions }: InFlightList): InFlightRow[] =>
  transactions.map(({ reference, replaces, amount }) => [reference, replaces, amount.toString()])

/** Without `groups`, which only proofs need. */
const COLUMNS = [
  'id',
  'network',
  'taken_at',
  'treasury',
  'cold_address',
  'cold_micros',
  'final_micros',
  'latest_micros',
  'ledger_micros',
  'venues_micros',
  'in_flight_micros',
  'unfinal_micros',
  'escrow_micros',
  'payable_micros',
  'surplus_micros',
  'suspense_micros',
  'earn_micros',
  'fees_micros',
  'short_micros',
  'root',
  'leaf_count',
  'day',
  'in_flight',
  'in_flight_count',
  'wallets_root',
  'wallet_count',
  'wallets_micros',
] as const

/** Clocks of our machines differ by less than this unless one is wrong. */
const CLOCK_SKEW_MS = 5 * MINUTE

/** The newest snapshot of a network, or the newest with a proof. Ignores snapshots of workers whose clock is wrong. */
export async function findNewest(
  db: Db | Tx,
  network: Network,
  now: Date,
  which: 'any' | 'proven' = 'any',
): Promise<Snapshot | undefined> {
  const row = await db
    .selectFrom('reserve_snapshots')
    .select(COLUMNS)
    .where('network', '=', network)
    .where('taken_at', '<=', later(now, CLOCK_SKEW_MS))
    .$if(which === 'proven', (query) => query.where('root', 'is not', null))
    .orderBy('taken_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && snapshotOf(row)
}

/** A snapshot with a proof. */
export async function findProven(db: Db, id: string): Promise<Snapshot | undefined> {
  const row = await db
    .selectFrom('reserve_snapshots')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('root', 'is not', null)
    .executeTakeFirst()
  return row && snapshotOf(row)
}

/** The newest day's snapshot of a network. */
export async function findNewestDay(db: Db, network: Network): Promise<Snapshot | undefined> {
  const row = await db
    .selectFrom('reserve_snapshots')
    .select(COLUMNS)
    .where('day', 'is not', null)
    .where('network', '=', network)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && snapshotOf(row)
}

/** The snapshots of days since one, newest first. */
export async function listDays(db: Db, since: string): Promise<Snapshot[]> {
  const rows = await db
    .selectFrom('reserve_snapshots')
    .select(COLUMNS)
    .where('day', '>=', since)
    .orderBy('day', 'desc')
    .orderBy('network')
    .execute()
  return rows.map(snapshotOf)
}

export async function hasDay(db: Db | Tx, network: Network, day: string): Promise<boolean> {
  const row = await db
    .selectFrom('reserve_snapshots')
    .select('id')
    .where('day', '=', day)
    .where('network', '=', network)
    .executeTakeFirst()
  return row !== undefined
}

interface Held {
  readonly finalHeight: bigint
  readonly confirmedAt: Date | null
  /** The block after which the cold address had this. */
  readonly height: bigint
  /** After the final block. */
  readonly treasury: bigint
  readonly cold: bigint
}

/** What the treasury and its cold address had after a final block, and how the treasury changed since. Undefined before both were read. */
export async function findHeld(tx: Tx, network: Network, cold: string | null): Promise<Held | undefined> {
  const row = await tx
    .selectFrom('followed_networks')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  if (row === undefined || row.treasury_micros === null || row.held_height === null || row.cold !== cold)
    return undefined
  return {
    ...{ finalHeight: row.final_height, confirmedAt: row.confirmed_at, height: row.held_height },
    ...{ treasury: row.treasury_micros + row.moved_micros, cold: row.cold_micros ?? 0n },
  }
}

/** Returns false when another transaction is saving a snapshot of this network. */
export async function tryLock(tx: Tx, network: Network): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`reserves:${network}`}, 0)) as mine`.execute(tx)
  return rows[0]?.mine === true
}

export async function insertSnapshot(tx: Tx, snapshot: Snapshot, groups: readonly TreeNode[]): Promise<void> {
  const { balances, proof, inFlight, wallets } = snapshot
  await tx
    .insertInto('reserve_snapshots')
    .values({
      id: snapshot.id,
      network: snapshot.network,
      taken_at: snapshot.takenAt,
      treasury: snapshot.treasury,
      cold_address: snapshot.cold?.address ?? null,
      cold_micros: snapshot.cold?.held ?? null,
      final_micros: snapshot.final,
      latest_micros: snapshot.latest,
      ledger_micros: balances.ledger,
      venues_micros: balances.venues,
      in_flight_micros: balances.inFlight,
      unfinal_micros: balances.unfinal,
      escrow_micros: balances.escrow,
      payable_micros: balances.payable,
      surplus_micros: balances.surplus,
      suspense_micros: balances.suspense,
      earn_micros: balances.earn,
      fees_micros: balances.fees,
      short_micros: snapshot.short,
      root: proof?.root ?? null,
      leaf_count: proof?.leaves ?? null,
      day: snapshot.day,
      in_flight: inFlight && JSON.stringify(inFlightRows(inFlight)),
      in_flight_count: inFlight?.count ?? null,
      wallets_root: wallets?.root ?? null,
      wallet_count: wallets?.count ?? null,
      wallets_micros: wallets?.total ?? null,
      groups: proof === null ? null : JSON.stringify(groups.map(({ hash, sum }) => [hash, sum.toString()])),
    })
    .execute()
}

export async function findGroups(db: Db, snapshotId: SnapshotId): Promise<TreeNode[]> {
  const row = await db
    .selectFrom('reserve_snapshots')
    .select('groups')
    .where('id', '=', snapshotId)
    .executeTakeFirstOrThrow()
  const groups = row.groups as readonly (readonly [string, string])[] | null
  return (groups ?? []).map(([hash, sum]) => ({ hash, sum: BigInt(sum) }))
}

/** Deletes older snapshots without a proof, except the newest one of the network. */
export async function deletePlainSnapshots(
  tx: Tx,
  network: Network,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  const newest = (await findNewest(tx, network, now))?.id ?? ''
  await tx
    .deleteFrom('reserve_snapshots')
    .where('network', '=', network)
    .where('root', 'is', null)
    .where('taken_at', '<', before)
    .where('id', '<>', newest)
    .execute()
}
