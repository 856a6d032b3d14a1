import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { sumAmounts } from '@market/database/sum-amounts'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { marksOf } from '@market/kernel/payout-mark'
import { type Selectable, sql } from 'kysely'
import { type Account, fees, suspense } from '../../ledger/index.ts'
import { type AddressSince, type TransferKey, transferName } from '../../payments/index.ts'
import { wakeMarked } from '../due/store.ts'
import type { Payout, PayoutId } from '../payout.ts'
import type { OutgoingTransfer, TransferMatch } from './outgoing-transfer.ts'

/** Final transfers do not change; the others are updated, because they may have moved to another block. */
export async function saveOutgoing(
  tx: Tx,
  network: Network,
  transfers: readonly ObservedOutgoingTransfer[],
  { isFinal, at }: { readonly isFinal: boolean; readonly at: Date },
): Promise<void> {
  if (transfers.length === 0) return
  await tx
    .insertInto('outgoing_transfers')
    .values(
      transfers.map((transfer) => ({
        network,
        reference: transfer.reference,
        transfer_index: transfer.index,
        mark: transfer.mark,
        payee: transfer.payee,
        amount_micros: transfer.amount,
        block_height: transfer.block.height,
        block_hash: transfer.block.hash,
        happened_at: transfer.at,
        is_final: isFinal,
        created_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['network', 'reference', 'transfer_index'])
        .doUpdateSet((set) => ({
          mark: set.ref('excluded.mark'),
          payee: set.ref('excluded.payee'),
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
  transfers: readonly ObservedOutgoingTransfer[],
  { upTo, at }: { readonly upTo: bigint; readonly at: Date },
): Promise<void> {
  await saveOutgoing(tx, network, transfers, { isFinal: true, at })
  await deleteUnfinal(tx, network, upTo)
  await wakeMarked(
    tx,
    transfers.flatMap(({ mark }) => mark ?? []),
  )
}

/** A reorganization replaced their blocks: those that the chain has again are read again. */
export async function deleteUnfinal(tx: Tx, network: Network, upTo?: bigint): Promise<void> {
  await tx
    .deleteFrom('outgoing_transfers')
    .where('network', '=', network)
    .where('is_final', '=', false)
    .$if(upTo !== undefined, (query) => query.where('block_height', '<=', upTo ?? 0n))
    .execute()
}

/** On Solana the mark is the id, also of a payout that this database has lost. */
const PAYOUT_ID = sql<PayoutId | null>`coalesce(
  (select id from payouts where payouts.mark = outgoing_transfers.mark),
  case outgoing_transfers.network when 'solana-mainnet' then outgoing_transfers.mark end)`

type Row = Selectable<Tables['outgoing_transfers']> & { readonly payout_id: PayoutId | null }

const outgoingTransferOf = (row: Row): OutgoingTransfer => ({
  network: row.network as Network,
  payoutId: row.payout_id,
  reference: row.reference,
  index: row.transfer_index,
  mark: row.mark,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  at: row.happened_at,
  block: { height: row.block_height, hash: row.block_hash },
  final: row.is_final,
  writtenOffAt: row.written_off_at,
  pairedWith: row.paired_with,
})

/** The payments with a mark that the payout has or had. */
export async function findTransferMatches(
  db: Db | Tx,
  payout: Pick<Payout, 'id' | 'markRound'>,
): Promise<TransferMatch[]> {
  const rows = await db
    .selectFrom('outgoing_transfers')
    .leftJoin('payout_signatures as signature', (join) =>
      join
        .onRef('signature.network', '=', 'outgoing_transfers.network')
        .onRef('signature.reference', '=', 'outgoing_transfers.reference')
        .onRef('signature.transfer_index', '=', 'outgoing_transfers.transfer_index')
        .on('signature.payout_id', '=', payout.id),
    )
    .selectAll('outgoing_transfers')
    .select(['signature.round as signed_in_round', PAYOUT_ID.as('payout_id')])
    .where('outgoing_transfers.mark', 'in', marksOf(payout))
    .orderBy('outgoing_transfers.block_height')
    .execute()
  return rows.map((row) => ({ ...outgoingTransferOf(row), signedInRound: row.signed_in_round }))
}

const isNamed = ({ network, reference, index }: TransferKey) => sql<boolean>`
  (network, reference, transfer_index) = (${network}, ${reference}, ${index})`

export async function lockOutgoingTransfer(tx: Tx, name: TransferKey): Promise<OutgoingTransfer | undefined> {
  const row = await tx
    .selectFrom('outgoing_transfers')
    .selectAll()
    .select(PAYOUT_ID.as('payout_id'))
    .where(isNamed(name))
    .forUpdate()
    .executeTakeFirst()
  return row && outgoingTransferOf(row)
}

/** The account that the payout's payment in a transaction was charged to when it was written off. Until the commit it is not. */
export async function lockCharged(tx: Tx, payout: Payout, reference: string): Promise<Account | undefined> {
  const { network } = payout
  const rows = await tx
    .selectFrom('outgoing_transfers')
    .select(['written_off_at', 'paired_with'])
    .where('mark', 'in', marksOf(payout))
    .where('reference', '=', reference)
    .forUpdate()
    .execute()
  const charged = rows.find(({ written_off_at: at }) => at !== null)
  if (charged === undefined) return undefined
  return charged.paired_with === null ? fees(network) : suspense(network, charged.paired_with)
}

export async function saveWrittenOff(
  tx: Tx,
  { writtenOffAt, pairedWith, ...name }: OutgoingTransfer,
): Promise<void> {
  const change = { written_off_at: writtenOffAt, paired_with: pairedWith }
  await tx.updateTable('outgoing_transfers').set(change).where(isNamed(name)).execute()
}

const HAS_NO_PAYOUT = sql`not exists (
  select from payouts as payout where payout.mark = transfer.mark and payout.network = transfer.network
    and payout.state = 'final' and payout.final_reference = transfer.reference)`

/** What of a transfer was paired with payments that still have no payout. */
export const sumPaired = (tx: Tx, received: TransferKey): Promise<Usdc> =>
  sumAmounts(
    tx,
    sql`from outgoing_transfers as transfer
      where network = ${received.network} and paired_with = ${transferName(received)} and ${HAS_NO_PAYOUT}`,
  )

/** Final payments that did not make a payout final and were not written off, oldest first. A payout has one payment. */
export async function findUnexplained(
  db: Db,
  limit: number,
  after: { readonly at: Date; readonly name: string } | undefined,
): Promise<OutgoingTransfer[]> {
  const isAfter =
    after === undefined ? sql`true` : sql`(happened_at, name) > (${after.at}::timestamptz, ${after.name})`
  const { rows } = await sql<Row>`
    select * from (select *, ${PAYOUT_ID} as payout_id, network || ':' || reference ||
      case transfer_index when 0 then '' else '.' || transfer_index end as name from outgoing_transfers) as transfer
    where is_final and written_off_at is null and ${isAfter} and ${HAS_NO_PAYOUT}
    order by happened_at, name limit ${limit}`.execute(db)
  return rows.map(outgoingTransferOf)
}

/** What an address got from the treasury in final blocks after one. */
export const sumPaidTo = (tx: Tx, { network, address, after }: AddressSince): Promise<Usdc> =>
  sumAmounts(
    tx,
    sql`from outgoing_transfers
      where network = ${network} and is_final and lower(payee) = lower(${address}) and block_height > ${after}`,
  )

/** What left the treasury in blocks that are not final. Without what one payee got. */
export const sumUnfinalOutgoing = (tx: Tx, network: Network, exceptPayee: string): Promise<Usdc> =>
  sumAmounts(
    tx,
    sql`from outgoing_transfers
      where network = ${network} and not is_final and lower(payee) is distinct from lower(${exceptPayee})`,
  )
