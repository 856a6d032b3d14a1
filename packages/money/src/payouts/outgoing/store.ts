import type { PayoutMark } from '@market/core/ports/chain'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import { wakePayouts } from '../due/store.ts'
import type { PayoutId } from '../payout.ts'
import type { MarkedTransfer, OutgoingTransfer, TransferMatch } from './outgoing-transfer.ts'

/** Final transfers do not change; the others are updated, because they may have moved to another block. */
export async function saveOutgoing(
  tx: Tx,
  network: Network,
  transfers: readonly MarkedTransfer[],
  { isFinal, at }: { readonly isFinal: boolean; readonly at: Date },
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
        is_final: isFinal,
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

/** Exactly these are in the final blocks up to a height: what else was seen there was reversed by a reorganization. */
export async function finalizeOutgoing(
  tx: Tx,
  network: Network,
  transfers: readonly MarkedTransfer[],
  { upTo, at }: { readonly upTo: bigint; readonly at: Date },
): Promise<void> {
  await saveOutgoing(tx, network, transfers, { isFinal: true, at })
  await tx
    .deleteFrom('outgoing_transfers')
    .where('network', '=', network)
    .where('is_final', '=', false)
    .where('block_height', '<=', upTo)
    .execute()
  const ids = transfers.flatMap(({ payoutId }) => payoutId ?? [])
  await wakePayouts(tx, ids)
}

/** A reorganization replaced their blocks: those that the chain has again are read again. */
export async function deleteUnfinal(tx: Tx, network: Network): Promise<void> {
  await tx
    .deleteFrom('outgoing_transfers')
    .where('network', '=', network)
    .where('is_final', '=', false)
    .execute()
}

/** What is known about payments: a signature that was stored before it was sent says which payout it is of. */
export async function findMarks(
  db: Db,
  network: Network,
  references: readonly string[],
): Promise<Map<string, PayoutMark>> {
  if (references.length === 0) return new Map()
  const { rows } = await sql<{ reference: string; payout_id: string | null; nonce: bigint | null }>`
    select reference, payout_id, nonce from payout_signatures
    where network = ${network} and reference = any(${references}::text[])
    union all
    select reference, payout_id, nonce from outgoing_transfers
    where network = ${network} and reference = any(${references}::text[])`.execute(db)
  return new Map(rows.map(({ reference, payout_id: payoutId, nonce }) => [reference, { payoutId, nonce }]))
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

interface AddressSince {
  readonly network: Network
  readonly address: string
  readonly after: bigint
}

/** What an address got from the treasury in final blocks after one. */
export async function sumPaidTo(tx: Tx, { network, address, after }: AddressSince): Promise<bigint> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(amount_micros), 0)::bigint as sum from outgoing_transfers
    where network = ${network} and is_final and lower(payee) = lower(${address}) and block_height > ${after}`.execute(
    tx,
  )
  return rows[0]?.sum ?? 0n
}

/** What left the treasury in blocks that are not final. Without what one payee got. */
export async function sumUnfinalOutgoing(tx: Tx, network: Network, exceptPayee: string): Promise<bigint> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(amount_micros), 0)::bigint as sum from outgoing_transfers
    where network = ${network} and not is_final and lower(payee) is distinct from lower(${exceptPayee})`.execute(
    tx,
  )
  return rows[0]?.sum ?? 0n
}
