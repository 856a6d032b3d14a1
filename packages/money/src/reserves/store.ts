import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { later, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, type SqlBool, sql } from 'kysely'
import { GROUP, type Leaf, type TreeNode } from './merkle.ts'
import type { Snapshot, SnapshotId } from './snapshot.ts'

type SnapshotRow = Omit<Selectable<Tables['reserve_snapshots']>, 'groups'>

const snapshotOf = (row: SnapshotRow): Snapshot => ({
  id: row.id as SnapshotId,
  network: row.network as Network,
  takenAt: row.taken_at,
  treasury: row.treasury,
  final: usdc(row.final_micros),
  latest: usdc(row.latest_micros),
  balances: {
    ledger: row.ledger_micros,
    inFlight: usdc(row.in_flight_micros),
    escrow: usdc(row.escrow_micros),
    payable: usdc(row.payable_micros),
    surplus: usdc(row.surplus_micros),
    suspense: usdc(row.suspense_micros),
    fees: usdc(row.fees_micros),
  },
  short: usdc(row.short_micros),
  proof: row.root === null ? null : { root: row.root, leaves: row.leaf_count ?? 0 },
})

/** Without `groups`, which only proofs need. */
const COLUMNS = [
  'id',
  'network',
  'taken_at',
  'treasury',
  'final_micros',
  'latest_micros',
  'ledger_micros',
  'in_flight_micros',
  'escrow_micros',
  'payable_micros',
  'surplus_micros',
  'suspense_micros',
  'fees_micros',
  'short_micros',
  'root',
  'leaf_count',
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

/** The sum of payouts that became final since a time. */
export async function sumSettled(db: Db | Tx, network: Network, since: Date): Promise<bigint> {
  const row = await db
    .selectFrom('payouts')
    .select((select) => sql<bigint>`coalesce(sum(${select.ref('amount_micros')}), 0)::bigint`.as('sum'))
    .where('network', '=', network)
    .where('state', '=', 'final')
    .where('updated_at', '>=', since)
    .executeTakeFirstOrThrow()
  return row.sum
}

export type Liability = Omit<Leaf, 'salt'>

interface LiabilityRow {
  readonly id: string
  readonly kind: string
  readonly holder: string | null
  readonly balance_micros: bigint
}

const PAGE = 20_000

/**
 * Every account with a liability, and its holder. The payer is the holder of escrow and surplus, and of suspense only
 * while the transfer is unclaimed: afterwards suspense belongs to other wallets that paid in the same transaction. EVM
 * wallets are given by their key, in lower case.
 */
export async function findLiabilities(tx: Tx, network: Network): Promise<Liability[]> {
  const found: Liability[] = []
  let after: Pick<LiabilityRow, 'kind' | 'id'> = { kind: '', id: '' }
  for (;;) {
    const { rows } = await sql<LiabilityRow>`
      select id, kind, balance_micros, case when holder like '0x%' then lower(holder) else holder end as holder
      from (
        select account.id, account.kind, account.balance_micros, case account.kind
          when 'escrow' then paid.payer
          when 'payable' then payout.payee
          when 'surplus' then transfer.payer
          when 'suspense' then case transfer.purpose when '' then transfer.payer end
        end as holder
        from (
          select id, kind, network, subject, balance_micros from ledger_accounts
          where network = ${network} and is_open and kind in ('escrow', 'payable', 'surplus', 'suspense')
            and (kind, id) > (${after.kind}, ${after.id})
          order by kind, id limit ${PAGE}
        ) as account
        left join transfers as paid on account.kind = 'escrow' and paid.network = account.network
          and paid.purpose = account.subject and paid.purpose <> '' and paid.state <> 'gone'
        left join transfers as transfer on account.kind in ('surplus', 'suspense')
          and transfer.network = account.network and transfer.reference = account.subject
        left join payouts as payout on account.kind = 'payable' and payout.id = account.subject
      ) as owed
      order by kind, id`.execute(tx)
    for (const row of rows) found.push({ account: row.id, holder: row.holder, micros: row.balance_micros })
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return found
    after = last
  }
}

/** Returns false when another transaction is saving a snapshot of this network. */
export async function tryLock(tx: Tx, network: Network): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`reserves:${network}`}, 0)) as mine`.execute(tx)
  return rows[0]?.mine === true
}

export async function insertSnapshot(tx: Tx, snapshot: Snapshot, groups: readonly TreeNode[]): Promise<void> {
  const { balances, proof } = snapshot
  await tx
    .insertInto('reserve_snapshots')
    .values({
      id: snapshot.id,
      network: snapshot.network,
      taken_at: snapshot.takenAt,
      treasury: snapshot.treasury,
      final_micros: snapshot.final,
      latest_micros: snapshot.latest,
      ledger_micros: balances.ledger,
      in_flight_micros: balances.inFlight,
      escrow_micros: balances.escrow,
      payable_micros: balances.payable,
      surplus_micros: balances.surplus,
      suspense_micros: balances.suspense,
      fees_micros: balances.fees,
      short_micros: snapshot.short,
      root: proof?.root ?? null,
      leaf_count: proof?.leaves ?? null,
      groups: proof === null ? null : JSON.stringify(groups.map(({ hash, sum }) => [hash, sum.toString()])),
    })
    .execute()
}

const BATCH = 10_000

export async function insertLeaves(tx: Tx, snapshotId: SnapshotId, leaves: readonly Leaf[]): Promise<void> {
  for (let first = 0; first < leaves.length; first += BATCH) {
    const batch = leaves.slice(first, first + BATCH)
    await sql`
      insert into reserve_leaves (snapshot_id, n, account_id, holder, amount_micros, salt)
      select ${snapshotId}, ${first}::integer + leaf.n - 1, leaf.account_id, leaf.holder, leaf.micros, leaf.salt
      from unnest(
        ${batch.map(({ account }) => account)}::text[], ${batch.map(({ holder }) => holder)}::text[],
        ${batch.map(({ micros }) => micros.toString())}::bigint[], ${batch.map(({ salt }) => salt)}::text[]
      ) with ordinality as leaf (account_id, holder, micros, salt, n)`.execute(tx)
  }
}

const leafOf = (row: Selectable<Tables['reserve_leaves']>): Leaf => ({
  account: row.account_id,
  holder: row.holder,
  micros: row.amount_micros,
  salt: row.salt,
})

/** Whose leaves to return. */
export interface Holders {
  /** Wallets that the caller proved to own. */
  readonly wallets: readonly string[]
  /** Unproven payout addresses: only payouts to them are returned. */
  readonly payees: readonly string[]
}

export interface PlacedLeaf extends Leaf {
  readonly snapshotId: SnapshotId
  readonly n: number
}

/** The largest leaves, and the number of all. */
export async function findLeavesOf(
  db: Db,
  snapshots: readonly SnapshotId[],
  { wallets, payees }: Holders,
  limit: number,
): Promise<{ leaves: PlacedLeaf[]; count: number }> {
  const rows = await db
    .selectFrom('reserve_leaves')
    .selectAll()
    .select(sql<number>`(count(*) over ())::integer`.as('count'))
    .where(sql<SqlBool>`snapshot_id = any(${snapshots}::text[])`)
    .where(sql<SqlBool>`holder = any(${[...wallets, ...payees]}::text[])`)
    .where(sql<SqlBool>`(holder = any(${wallets}::text[]) or account_id like 'payable:%')`)
    .orderBy('amount_micros', 'desc')
    .orderBy('snapshot_id')
    .orderBy('n')
    .limit(limit)
    .execute()
  return {
    leaves: rows.map((row) => ({ ...leafOf(row), snapshotId: row.snapshot_id as SnapshotId, n: row.n })),
    count: rows[0]?.count ?? 0,
  }
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

/** The leaves of one group, sorted by position. */
export async function findGroup(db: Db, snapshotId: SnapshotId, group: number): Promise<Leaf[]> {
  const rows = await db
    .selectFrom('reserve_leaves')
    .selectAll()
    .where('snapshot_id', '=', snapshotId)
    .where('n', '>=', group * GROUP)
    .where('n', '<', (group + 1) * GROUP)
    .orderBy('n')
    .execute()
  return rows.map(leafOf)
}

/** Snapshots that still have leaves, except the newest few of each network. */
export async function findWithOldLeaves(db: Db, keep: number): Promise<SnapshotId[]> {
  // Skips from snapshot to snapshot in the key of the leaves, so it does not read all leaves or all snapshots.
  const { rows } = await sql<{ id: SnapshotId }>`
    with recursive held as (
      (select snapshot_id from reserve_leaves order by snapshot_id limit 1)
      union all
      select (select snapshot_id from reserve_leaves where snapshot_id > held.snapshot_id order by snapshot_id limit 1)
      from held where held.snapshot_id is not null
    ), ranked as (
      select id, row_number() over (partition by network order by taken_at desc, id desc) as age
      from reserve_snapshots where id in (select snapshot_id from held)
    )
    select id from ranked where age > ${keep}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Deletes up to `limit` leaves, to keep statements short. Returns false when none are left. */
export async function deleteLeaves(tx: Tx, snapshotId: SnapshotId, limit: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('reserve_leaves')
    .where('snapshot_id', '=', snapshotId)
    .where('n', 'in', (select) =>
      select
        .selectFrom('reserve_leaves')
        .select('n')
        .where('snapshot_id', '=', snapshotId)
        .orderBy('n')
        .limit(limit),
    )
    .executeTakeFirst()
  return numDeletedRows === BigInt(limit)
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
