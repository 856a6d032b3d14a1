import type { Needs } from '@market/core/context'
import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { PayoutId } from '../payout.ts'
import type { Guard } from './guard.ts'
import type { OutgoingTransfer, TransferMatch } from './outgoing-transfer.ts'

/**
 * Changes after a restart, a recovery to an earlier time or the promotion of a replica (start time of the server), after a
 * restore into another or the same database (ids of database and table), and after a rewrite of the table (its file).
 */
const DATABASE_EPOCH = sql<string>`(select concat_ws('/', extract(epoch from pg_postmaster_start_time()), database.oid,
  'payouts'::regclass::oid, pg_relation_filenode('payouts'))
  from pg_database as database where database.datname = current_database())`

export async function currentEpoch(db: Db): Promise<string> {
  const { rows } = await sql<{ database_epoch: string }>`select ${DATABASE_EPOCH} as database_epoch`.execute(
    db,
  )
  return rows[0]?.database_epoch ?? ''
}

const guardOf = (row: Selectable<Tables['payout_guards']> & { current_epoch: string }): Guard => ({
  network: row.network as Network,
  databaseEpoch: row.database_epoch,
  isCurrentEpoch: row.database_epoch === row.current_epoch,
  horizon: row.horizon,
  position: row.position,
  comparedAt: row.compared_at,
  readAt: row.updated_at,
  isCounted: row.counted_epoch === null || row.counted_epoch === row.current_epoch,
  short: usdc(row.short_micros),
  shortSince: row.short_since,
})

/** A lock lasts until the commit: `shared` while payouts are authorized or signed, `exclusive` while readings are stored. */
export async function findGuard(
  db: Db | Tx,
  network: Network,
  lock?: 'shared' | 'exclusive',
): Promise<Guard | undefined> {
  const row = await db
    .selectFrom('payout_guards')
    .selectAll()
    .select(DATABASE_EPOCH.as('current_epoch'))
    .where('network', '=', network)
    .$if(lock === 'shared', (select) => select.forShare())
    .$if(lock === 'exclusive', (select) => select.forUpdate())
    .executeTakeFirst()
  return row && guardOf(row)
}

export async function findGuards(db: Db): Promise<Guard[]> {
  const rows = await db
    .selectFrom('payout_guards')
    .selectAll()
    .select(DATABASE_EPOCH.as('current_epoch'))
    .execute()
  return rows.map(guardOf)
}

/** Whether the treasury was counted in the current database epoch; payouts wait until it was. */
export const isCounted = async (db: Db, network: Network): Promise<boolean> =>
  (await findGuard(db, network))?.isCounted ?? true

/** Starts the comparison again. The position of the reading and the shortage stay as they are. */
export async function beginEpoch(
  tx: Tx,
  {
    network,
    databaseEpoch,
    horizon,
    at,
  }: { network: Network; databaseEpoch: string; horizon: bigint; at: Date },
): Promise<void> {
  await tx
    .insertInto('payout_guards')
    .values({ network, database_epoch: databaseEpoch, horizon, updated_at: at })
    .onConflict((conflict) =>
      conflict
        .column('network')
        .doUpdateSet({ database_epoch: databaseEpoch, horizon, compared_at: null, updated_at: at })
        .where('payout_guards.database_epoch', '<>', databaseEpoch),
    )
    .execute()
}

export async function saveGuard(
  tx: Tx,
  network: Network,
  change: { position: string | null } | { readAt: Date; comparedAt: Date | null },
): Promise<void> {
  const set =
    'position' in change
      ? { position: change.position }
      : { updated_at: change.readAt, compared_at: change.comparedAt }
  await tx.updateTable('payout_guards').set(set).where('network', '=', network).execute()
}

/** The shortage of a network is stored even before its first comparison. */
const NO_EPOCH = { database_epoch: 'none', horizon: 0n }

/** While a treasury is short, no payout of its network is authorized; zero ends that. `short_since` is when it began. */
export async function setShortage(
  { clock }: Needs<'clock'>,
  tx: Tx,
  network: Network,
  short: bigint,
): Promise<void> {
  const at = clock.now()
  await tx
    .insertInto('payout_guards')
    .values({
      network,
      ...NO_EPOCH,
      short_micros: short,
      short_since: short === 0n ? null : at,
      counted_epoch: DATABASE_EPOCH,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.column('network').doUpdateSet((set) => ({
        counted_epoch: DATABASE_EPOCH,
        short_micros: short,
        short_since: short === 0n ? null : set.fn.coalesce('payout_guards.short_since', set.val(at)),
      })),
    )
    .execute()
}

/** Final transfers do not change; the others are updated, because they may have moved to another block. */
export async function saveOutgoingTransfers(
  tx: Tx,
  network: Network,
  transfers: readonly ObservedOutgoingTransfer[],
  at: Date,
): Promise<void> {
  if (transfers.length === 0) return
  await tx
    .insertInto('outgoing_transfers')
    .values(
      transfers.map((transfer) => ({
        network,
        reference: transfer.reference,
        payout_id: transfer.payoutId,
        payee: transfer.payee,
        amount_micros: transfer.amount,
        nonce: transfer.nonce,
        block_height: transfer.block.height,
        block_hash: transfer.block.hash,
        happened_at: transfer.at,
        is_final: transfer.final,
        created_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['network', 'reference'])
        .doUpdateSet((set) => ({
          amount_micros: set.ref('excluded.amount_micros'),
          block_height: set.ref('excluded.block_height'),
          block_hash: set.ref('excluded.block_hash'),
          happened_at: set.ref('excluded.happened_at'),
          is_final: set.ref('excluded.is_final'),
        }))
        .where('outgoing_transfers.is_final', '=', false),
    )
    .execute()
}

/** Deletes transfers below the final block that a complete reading did not show: a reorganization reversed them. */
export async function deleteReversed(
  tx: Tx,
  network: Network,
  finalHeight: bigint,
  seen: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('outgoing_transfers')
    .where('network', '=', network)
    .where('is_final', '=', false)
    .where('block_height', '<=', finalHeight)
    .where('reference', '<>', sql<string>`all(${seen}::text[])`)
    .execute()
}

const outgoingTransferOf = (row: Selectable<Tables['outgoing_transfers']>): OutgoingTransfer => ({
  network: row.network as Network,
  reference: row.reference,
  payoutId: row.payout_id,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  nonce: row.nonce,
  at: row.happened_at,
  block: { height: row.block_height, hash: row.block_hash },
  final: row.is_final,
  writtenOffAt: row.written_off_at,
})

export async function findTransferMatches(db: Db | Tx, id: PayoutId): Promise<TransferMatch[]> {
  const rows = await db
    .selectFrom('outgoing_transfers')
    .leftJoin('payout_signatures as signature', (join) =>
      join
        .onRef('signature.network', '=', 'outgoing_transfers.network')
        .onRef('signature.reference', '=', 'outgoing_transfers.reference')
        .onRef('signature.payout_id', '=', 'outgoing_transfers.payout_id'),
    )
    .selectAll('outgoing_transfers')
    .select('signature.round as signed_in_round')
    .where('outgoing_transfers.payout_id', '=', id)
    .orderBy('outgoing_transfers.block_height')
    .execute()
  return rows.map((row) => ({ ...outgoingTransferOf(row), signedInRound: row.signed_in_round }))
}

export async function lockOutgoingTransfer(
  tx: Tx,
  network: Network,
  reference: string,
): Promise<OutgoingTransfer | undefined> {
  const row = await tx
    .selectFrom('outgoing_transfers')
    .selectAll()
    .where('network', '=', network)
    .where('reference', '=', reference)
    .forUpdate()
    .executeTakeFirst()
  return row && outgoingTransferOf(row)
}

export async function saveWrittenOff(
  tx: Tx,
  { network, reference }: OutgoingTransfer,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('outgoing_transfers')
    .set({ written_off_at: at })
    .where('network', '=', network)
    .where('reference', '=', reference)
    .execute()
}

/** How many nonces of a range were used by payouts or by payments that were written off. */
export async function countExplained(tx: Tx, network: Network, from: bigint, upTo: bigint): Promise<bigint> {
  const row = await tx
    .selectFrom('outgoing_transfers')
    .select(sql<bigint>`count(distinct nonce)`.as('count'))
    .where('network', '=', network)
    .where('nonce', '>=', from)
    .where('nonce', '<', upTo)
    .where((where) => where.or([where('payout_id', 'is not', null), where('written_off_at', 'is not', null)]))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Final payments that did not make a payout final and were not written off, oldest first. A payout has one payment. */
export async function findUnexplained(
  db: Db,
  limit: number,
  after: { readonly at: Date; readonly name: string } | undefined,
): Promise<OutgoingTransfer[]> {
  const isAfter =
    after === undefined ? sql`true` : sql`(happened_at, name) > (${after.at}::timestamptz, ${after.name})`
  const { rows } = await sql<Selectable<Tables['outgoing_transfers']>>`
    select * from (select *, network || ':' || reference as name from outgoing_transfers) as transfer
    where is_final and written_off_at is null and ${isAfter}
      and not exists (
        select from payouts as payout where payout.id = transfer.payout_id and payout.network = transfer.network
          and payout.state = 'final' and payout.final_reference = transfer.reference
      )
    order by happened_at, name limit ${limit}`.execute(db)
  return rows.map(outgoingTransferOf)
}
