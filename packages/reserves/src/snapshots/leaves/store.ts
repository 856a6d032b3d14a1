import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { GROUP, type Leaf } from '@market/kernel/merkle'
import type { Network } from '@market/kernel/network'
import { escrowPayers, unmatchedPayers } from '@market/money/payments'
import { payoutPayees } from '@market/money/payouts'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { SnapshotId } from '../snapshot.ts'

const BATCH = 10_000

/** Inserts leaves at the positions from `position` on. */
export async function insertLeaves(
  tx: Tx,
  snapshotId: SnapshotId,
  leaves: readonly Leaf[],
  position = 0,
): Promise<void> {
  for (let first = 0; first < leaves.length; first += BATCH) {
    const batch = leaves.slice(first, first + BATCH)
    await sql`
      insert into reserve_leaves (snapshot_id, n, account_id, holder, amount_micros, salt)
      select ${snapshotId}, ${position + first}::integer + leaf.n - 1, leaf.account_id, leaf.holder, leaf.micros, leaf.salt
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
  /** Wallets that the caller proved to own, and the id of the agent that asks. */
  readonly proven: readonly string[]
  /** Unproven payout addresses: only payouts to them are returned. */
  readonly payees: readonly string[]
}

export interface PlacedLeaf extends Leaf {
  readonly snapshotId: SnapshotId
  readonly n: number
}

/**
 * The largest leaves, and the number of all. With an account only its leaf, also when it has no holder: whoever knows
 * the id of such an account is a party of it, or read it from the chain.
 */
export async function findLeavesOf(
  db: Db,
  snapshots: readonly SnapshotId[],
  { proven, payees }: Holders,
  { limit, account }: { readonly limit: number; readonly account?: string | undefined },
): Promise<{ leaves: PlacedLeaf[]; count: number }> {
  const isOwn = sql<SqlBool>`(holder = any(${[...proven, ...payees]}::text[])
    and (holder = any(${proven}::text[]) or account_id like 'payable:%'))`
  const rows = await db
    .selectFrom('reserve_leaves')
    .selectAll()
    .select(sql<number>`(count(*) over ())::integer`.as('count'))
    .where(sql<SqlBool>`snapshot_id = any(${snapshots}::text[])`)
    .$if(account === undefined, (query) => query.where(isOwn))
    .$if(account !== undefined, (query) =>
      query.where(sql<SqlBool>`account_id = ${account ?? ''} and (holder is null or ${isOwn})`),
    )
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

/** Leaves are deleted from the first one on, so a snapshot without it has no complete tree any more. */
export async function hasLeaves(db: Db, snapshotId: SnapshotId): Promise<boolean> {
  const row = await db
    .selectFrom('reserve_leaves')
    .select('n')
    .where('snapshot_id', '=', snapshotId)
    .where('n', '=', 0)
    .executeTakeFirst()
  return row !== undefined
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

/** Snapshots that still have leaves, except the newest few of each network and the day's snapshots since a time. */
export async function findWithOldLeaves(
  db: Db,
  { newest, daysSince }: { readonly newest: number; readonly daysSince: Date },
): Promise<SnapshotId[]> {
  // Skips from snapshot to snapshot in the key of the leaves, so it does not read all leaves or all snapshots.
  const { rows } = await sql<{ id: SnapshotId }>`
    with recursive held as (
      (select snapshot_id from reserve_leaves order by snapshot_id limit 1)
      union all
      select (select snapshot_id from reserve_leaves where snapshot_id > held.snapshot_id order by snapshot_id limit 1)
      from held where held.snapshot_id is not null
    ), ranked as (
      select id, day is not null and taken_at >= ${daysSince} as is_kept,
        row_number() over (partition by network order by taken_at desc, id desc) as age
      from reserve_snapshots where id in (select snapshot_id from held)
    )
    select id from ranked where age > ${newest} and not is_kept`.execute(db)
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

export type Liability = Omit<Leaf, 'salt'>

/** The part of an account that belongs to one holder. */
export interface Part {
  readonly holder: string
  readonly micros: bigint
}

/** The parts of accounts that have several holders, by the id of the account. */
export type Parts = ReadonlyMap<string, readonly Part[]>

/** What belongs to no part, such as what rounding left, is a leaf without a holder: the sum is always the balance. */
function splitByHolder(whole: Liability, parts: readonly Part[] = []): Liability[] {
  const { account, micros } = whole
  const rest = parts.reduce((left, part) => left - part.micros, micros)
  if (parts.length === 0 || rest < 0n) return [whole]
  const leaves = parts.map((part) => ({ account, ...part }))
  return [...leaves, { account, holder: null, micros: rest }].filter((leaf) => leaf.micros > 0n)
}

interface LiabilityRow {
  readonly id: string
  readonly kind: string
  readonly holder: string | null
  readonly balance_micros: bigint
  readonly is_move: boolean
}

const PAGE = 20_000

/**
 * Every account with a liability, and its holder. A payout belongs to its payee, or to the agent while it has no address.
 * The payer is the holder of escrow and surplus, and of suspense only while the transfer is unclaimed: what is in suspense
 * beside a claim was recorded before transfers had indexes, and others paid it. What moves to the cold address or to a venue is
 * owed to nobody. What Earn owes has the holders that `parts` says. EVM wallets are given by their key, in lower case.
 */
export async function findLiabilities(
  tx: Tx,
  network: Network,
  parts: Parts = new Map(),
): Promise<Liability[]> {
  const found: Liability[] = []
  let after: Pick<LiabilityRow, 'kind' | 'id'> = { kind: '', id: '' }
  for (;;) {
    const { rows } = await sql<LiabilityRow>`
      select id, kind, balance_micros, is_move, case when holder like '0x%' then lower(holder) else holder end as holder
      from (
        select account.id, account.kind, account.balance_micros,
          coalesce(payout.is_move, false) as is_move, case account.kind
          when 'escrow' then escrow.payer
          when 'payable' then coalesce(payout.payee, requested.agent_id)
          when 'surplus' then unmatched.payer
          when 'suspense' then case when unmatched.is_unclaimed then unmatched.payer end
        end as holder
        from (
          select id, kind, network, subject, balance_micros from ledger_accounts
          where network = ${network} and is_open and kind in ('escrow', 'payable', 'surplus', 'suspense', 'withdrawal')
            and (kind, id) > (${after.kind}, ${after.id})
          order by kind, id limit ${PAGE}
        ) as account
        left join ${escrowPayers} as escrow on account.kind = 'escrow'
          and escrow.network = account.network and escrow.purpose = account.subject
        left join ${unmatchedPayers} as unmatched on account.kind in ('surplus', 'suspense')
          and unmatched.network = account.network and unmatched.subject = account.subject
        left join ${payoutPayees} as payout on account.kind = 'payable' and payout.id = account.subject
        left join ledger_journals as requested on payout.payee is null and requested.key = 'payout.requested:' || payout.id
      ) as owed
      order by kind, id`.execute(tx)
    for (const { id: account, holder, balance_micros: micros, is_move } of rows)
      if (!is_move) found.push(...splitByHolder({ account, holder, micros }, parts.get(account)))
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return found
    after = last
  }
}
