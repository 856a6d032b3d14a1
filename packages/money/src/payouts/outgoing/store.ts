import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { PayoutId } from '../payout.ts'
import type { Gate } from './guard.ts'
import type { OutgoingTransfer, TransferMatch } from './outgoing-transfer.ts'

/**
 * Another after a restart, a recovery to an earlier moment or a promoted replica (the server's start), after a restore
 * into another database or the same one (the database and the table), and after the table was filled anew (its file).
 */
export const DATABASE_EPOCH = sql<string>`(select concat_ws('/', extract(epoch from pg_postmaster_start_time()), database.oid,
  'payouts'::regclass::oid, pg_relation_filenode('payouts'))
  from pg_database as database where database.datname = current_database())`

export async function currentEpoch(db: Db): Promise<string> {
  const { rows } = await sql<{ database_epoch: string }>`select ${DATABASE_EPOCH} as database_epoch`.execute(
    db,
  )
  return rows[0]?.database_epoch ?? ''
}

/** With a lock, until the commit: shared by those who let payouts through, alone for those who write what they read. */
export async function findGate(
  db: Db | Tx,
  network: Network,
  lock?: 'shared' | 'alone',
): Promise<Gate | undefined> {
  const row = await db
    .selectFrom('payout_guards')
    .selectAll()
    .select(DATABASE_EPOCH.as('current_epoch'))
    .where('network', '=', network)
    .$if(lock === 'shared', (select) => select.forShare())
    .$if(lock === 'alone', (select) => select.forUpdate())
    .executeTakeFirst()
  return (
    row && {
      network,
      database_epoch: row.database_epoch,
      isCurrentEpoch: row.database_epoch === row.current_epoch,
      horizon: row.horizon,
      position: row.position,
      comparedAt: row.compared_at,
      readAt: row.updated_at,
      isCounted: row.counted_epoch === null || row.counted_epoch === row.current_epoch,
      short: usdc(row.short_micros),
    }
  )
}

/** What was read stays read, and what is short stays short; only the comparison begins anew. */
export async function beginEpoch(
  tx: Tx,
  gate: { network: Network; database_epoch: string; horizon: bigint; at: Date },
): Promise<void> {
  const { network, database_epoch, horizon, at } = gate
  await tx
    .insertInto('payout_guards')
    .values({ network, database_epoch, horizon, updated_at: at })
    .onConflict((conflict) =>
      conflict
        .column('network')
        .doUpdateSet({ database_epoch, horizon, compared_at: null, updated_at: at })
        .where('payout_guards.database_epoch', '<>', database_epoch),
    )
    .execute()
}

export async function saveGate(
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

/** Of a network that nobody has compared yet, the shortage is written down all the same. */
const NO_EPOCH = { database_epoch: 'none', horizon: 0n }

export async function saveShortage(tx: Tx, network: Network, short: bigint, at: Date): Promise<void> {
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

/** What is final stays as it is; the rest is as it was seen last, for it may have moved to another block. */
export async function saveOutgoingTransfers(
  tx: Tx,
  network: Network,
  outgoingTransfers: readonly ObservedOutgoingTransfer[],
  at: Date,
): Promise<void> {
  if (outgoingTransfers.length === 0) return
  await tx
    .insertInto('outgoing_transfers')
    .values(
      outgoingTransfers.map((sending) => ({
        network,
        reference: sending.reference,
        payout_id: sending.payoutId,
        payee: sending.payee,
        amount_micros: sending.amount,
        nonce: sending.nonce,
        block_height: sending.block.height,
        block_hash: sending.block.hash,
        happened_at: sending.at,
        is_final: sending.final,
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

/** Those in blocks up to the final one that a reading to the end did not show: a reorganisation took them back. */
export async function removeGone(
  tx: Tx,
  network: Network,
  finalHeight: bigint,
  shown: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('outgoing_transfers')
    .where('network', '=', network)
    .where('is_final', '=', false)
    .where('block_height', '<=', finalHeight)
    .where('reference', '<>', sql<string>`all(${shown}::text[])`)
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
  bookedAt: row.written_off_at,
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
    .select('signature.round as named_in')
    .where('outgoing_transfers.payout_id', '=', id)
    .orderBy('outgoing_transfers.block_height')
    .execute()
  return rows.map((row) => ({ ...outgoingTransferOf(row), namedIn: row.named_in }))
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

export async function saveBooked(tx: Tx, { network, reference }: OutgoingTransfer, at: Date): Promise<void> {
  await tx
    .updateTable('outgoing_transfers')
    .set({ written_off_at: at })
    .where('network', '=', network)
    .where('reference', '=', reference)
    .execute()
}

/** How many of the nonces from one up to another are used by payments that are payouts, or that somebody explained. */
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
