import type { IncomingTransfer } from '@market/core/ports/chain'
import { sumAmounts } from '@market/database/sum-amounts'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import { formatPurpose, type Purpose, parsePurpose } from './purpose.ts'
import type { Transfer, TransferKey, TransferState } from './transfer.ts'

const transferOf = (row: Selectable<Tables['transfers']>): Transfer => ({
  network: row.network as Network,
  reference: row.reference,
  index: row.transfer_index,
  purpose: row.purpose === '' ? null : parsePurpose(row.purpose),
  payer: row.payer,
  amount: usdc(row.amount_micros),
  due: usdc(row.due_micros),
  block: { height: row.block_height, hash: row.block_hash },
  happenedAt: row.happened_at,
  state: row.state as TransferState,
  missingSince: row.missing_since,
  arrivedAt: row.created_at,
  claimedAt: row.claimed_at,
})

const columnsOf = (transfer: Transfer, at: Date) => ({
  purpose: transfer.purpose === null ? '' : formatPurpose(transfer.purpose),
  payer: transfer.payer,
  amount_micros: transfer.amount,
  due_micros: transfer.due,
  block_height: transfer.block.height,
  block_hash: transfer.block.hash,
  happened_at: transfer.happenedAt,
  missing_since: transfer.missingSince,
  state: transfer.state,
  checked_at: at,
  created_at: transfer.arrivedAt,
})

/** Returns false when the transfer is recorded already or its purpose is paid; the unique keys decide between concurrent claims. */
export const insertTransfer = async (tx: Tx, transfer: Transfer, at: Date): Promise<boolean> =>
  (await insertTransfers(tx, [transfer], at)).size === 1

/** Returns the names of those that were not recorded yet. */
export async function insertTransfers(
  tx: Tx,
  transfers: readonly Transfer[],
  at: Date,
): Promise<Set<string>> {
  if (transfers.length === 0) return new Set()
  const rows = await tx
    .insertInto('transfers')
    .values(
      transfers.map((transfer) => ({
        network: transfer.network,
        reference: transfer.reference,
        transfer_index: transfer.index,
        ...columnsOf(transfer, at),
        claimed_at: transfer.purpose === null ? null : sql<Date>`now()`,
      })),
    )
    // Any of the unique keys: of two concurrent inserts either can be violated first.
    .onConflict((conflict) => conflict.doNothing())
    .returning('subject')
    .execute()
  return new Set(rows.map(({ subject }) => subject))
}

const isNamed = ({ network, reference, index }: TransferKey) => sql<boolean>`
  (network, reference, transfer_index) = (${network}, ${reference}, ${index})`

/** Locks the row until the end of the transaction: it cannot be claimed, refunded or reversed meanwhile. */
export async function lockTransfer(tx: Tx, key: TransferKey): Promise<Transfer | undefined> {
  const query = tx.selectFrom('transfers').selectAll().where(isNamed(key)).forUpdate()
  const row = await query.executeTakeFirst()
  return row && transferOf(row)
}

export async function findTransfer(db: Db | Tx, key: TransferKey): Promise<Transfer | undefined> {
  const row = await db.selectFrom('transfers').selectAll().where(isNamed(key)).executeTakeFirst()
  return row && transferOf(row)
}

/** Which transfers of a transaction pay for something. */
export async function findUsedIndexes(db: Db | Tx, network: Network, reference: string): Promise<number[]> {
  const rows = await db
    .selectFrom('transfers')
    .select('transfer_index')
    .where('network', '=', network)
    .where('reference', '=', reference)
    .where('purpose', '<>', '')
    .where('state', '<>', 'gone')
    .execute()
  return rows.map((row) => row.transfer_index)
}

/**
 * The transfers of a transaction as its blocks were read, and how many blocks confirm it. Undefined unless everything of the
 * transaction was read: a page can end within a block, and a reorganization can have replaced the block.
 */
export async function findRead(
  db: Db,
  network: Network,
  reference: string,
): Promise<{ readonly transfers: readonly Transfer[]; readonly confirmations: number } | undefined> {
  const rows = await db
    .selectFrom('transfers')
    .innerJoin('followed_networks as followed', 'followed.network', 'transfers.network')
    .selectAll('transfers')
    .select(['head_height', 'final_height'])
    .where('transfers.network', '=', network)
    .where('reference', '=', reference)
    .where('state', '<>', 'gone')
    .execute()
  const [first] = rows
  const isRead = rows.every(
    ({ state, missing_since, block_hash, block_height, final_height, head_height }) =>
      missing_since === null &&
      block_hash === first?.block_hash &&
      (block_height <= final_height ? state === 'final' : block_height <= (head_height ?? 0n)),
  )
  if (first === undefined || !isRead) return undefined
  const confirmations = Number((first.head_height ?? first.final_height) - first.block_height + 1n)
  return { transfers: rows.map(transferOf), confirmations }
}

/** The newest final height of a network whose newest blocks were read since then. */
export async function findReadFinal(db: Db, network: Network, since: Date): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('followed_networks')
    .select('final_height')
    .where('network', '=', network)
    .where('read_at', '>', since)
    .executeTakeFirst()
  return row?.final_height
}

/**
 * Blocks after a final one were replaced. What is not in the new ones that were read is missing until it is read or checked
 * again.
 */
export async function markReplaced(
  tx: Tx,
  network: Network,
  {
    after,
    read,
    at,
  }: { readonly after: bigint; readonly read: readonly IncomingTransfer[]; readonly at: Date },
): Promise<void> {
  await sql`
    update transfers set missing_since = ${at}
    where network = ${network} and state = 'seen' and block_height > ${after} and missing_since is null
      and block_hash <> all(${read.map(({ block }) => block.hash)}::text[])`.execute(tx)
}

/** Locks the transfer that paid for a purpose. */
export async function lockTransferFor(tx: Tx, purpose: Purpose): Promise<Transfer | undefined> {
  const found = await findTransferFor(tx, purpose)
  return found && lockTransfer(tx, found)
}

/** The transfer that paid for a purpose; undefined when there is none or the chain reversed it. */
export async function findTransferFor(db: Db | Tx, purpose: Purpose): Promise<Transfer | undefined> {
  const row = await db
    .selectFrom('transfers')
    .selectAll()
    .where('purpose', '=', formatPurpose(purpose))
    .where('state', '<>', 'gone')
    .executeTakeFirst()
  return row && transferOf(row)
}

/** Whether the chain can no longer reverse the payment. Money is paid out only after that. */
export async function isPaymentFinal(db: Db | Tx, purpose: Purpose): Promise<boolean> {
  return (await findTransferFor(db, purpose))?.state === 'final'
}

/** What transfers brought in the blocks after a final one, and a reorganization did not take back. Without those of a payer. */
export async function sumArrived(
  tx: Tx,
  network: Network,
  { after, except }: { readonly after: bigint; readonly except: string },
): Promise<Usdc> {
  return sumAmounts(
    tx,
    sql`from transfers where network = ${network} and (state = 'seen' and missing_since is null or state = 'final')
      and block_height > ${after} and lower(payer) is distinct from lower(${except})`,
  )
}

export interface AddressSince {
  readonly network: Network
  readonly address: string
  readonly after: bigint
}

/** What final transfers of an address brought after a block. */
export const sumPaidBy = (tx: Tx, { network, address, after }: AddressSince): Promise<Usdc> =>
  sumAmounts(
    tx,
    sql`from transfers where network = ${network} and state = 'final' and lower(payer) = lower(${address})
      and block_height > ${after}
      and block_height <= (select final_height from followed_networks where network = ${network})`,
  )

/** What final transfers of these transactions pay for. */
export async function findPaidPurposes(
  tx: Tx,
  network: Network,
  references: readonly string[],
): Promise<Purpose[]> {
  if (references.length === 0) return []
  const rows = await tx
    .selectFrom('transfers')
    .select('purpose')
    .where('network', '=', network)
    .where('reference', '=', sql<string>`any(${references}::text[])`)
    .where('state', '=', 'final')
    .where('purpose', '<>', '')
    .execute()
  return rows.map(({ purpose }) => parsePurpose(purpose))
}

/** What transfers brought in blocks that are not final. Their money cannot leave, so all of it is in the ledger. */
export const sumUnfinal = (db: Db | Tx, network: Network): Promise<Usdc> =>
  sumAmounts(
    db,
    sql`from transfers where network = ${network} and (state = 'seen' or state = 'final' and block_height >
      (select final_height from followed_networks where network = ${network}))`,
  )

export async function saveTransfer(tx: Tx, transfer: Transfer, at: Date): Promise<void> {
  const columns = columnsOf(transfer, at)
  const claimedAt = sql<Date | null>`case ${columns.purpose} when purpose then claimed_at when '' then null else now() end`
  await tx
    .updateTable('transfers')
    .set({ ...columns, claimed_at: claimedAt })
    .where(isNamed(transfer))
    .execute()
}

const HIGHEST = 2n ** 63n - 1n
const IS_KIND = { claimed: sql`purpose <> ''`, unclaimed: sql`purpose = ''` }

/**
 * Transfers of final blocks that were not found there, those first that were not checked for longest. Everything, where the
 * network is not followed yet. They are marked as checked, so that another worker takes others.
 */
export async function acquireForCheck(
  db: Db,
  network: Network,
  kind: keyof typeof IS_KIND,
  at: { now: Date; before: Date },
  limit: number,
): Promise<Transfer[]> {
  const { rows } = await sql<Selectable<Tables['transfers']>>`
    update transfers set checked_at = ${at.now} where (network, reference, transfer_index) in (
      select network, reference, transfer_index from transfers
      where state = 'seen' and network = ${network} and ${IS_KIND[kind]} and checked_at < ${at.before}
        and block_height <= coalesce((select final_height from followed_networks where network = ${network}), ${HIGHEST})
      order by checked_at limit ${limit} for update skip locked
    ) returning *`.execute(db)
  return rows.map(transferOf)
}

/** Makes transfers final that were recorded just as they are in the final chain. Returns the names of these. */
export async function finalizeSeen(
  db: Db,
  network: Network,
  transfers: readonly IncomingTransfer[],
): Promise<Set<string>> {
  if (transfers.length === 0) return new Set()
  const column = <T>(of: (transfer: IncomingTransfer) => T): T[] => transfers.map(of)
  const { rows } = await sql<{ subject: string }>`
    update transfers set state = 'final', missing_since = null,
      block_height = final.block_height, block_hash = final.block_hash, happened_at = final.happened_at
    from unnest(
      ${column(({ reference }) => reference)}::text[], ${column(({ index }) => index)}::int[],
      ${column(({ amount }) => amount.toString())}::bigint[], ${column(({ payer }) => payer)}::text[],
      ${column(({ block }) => block.height.toString())}::bigint[], ${column(({ block }) => block.hash)}::text[],
      ${column(({ at }) => at)}::timestamptz[]
    ) as final (reference, transfer_index, amount_micros, payer, block_height, block_hash, happened_at)
    where transfers.network = ${network} and transfers.reference = final.reference
      and transfers.transfer_index = final.transfer_index and transfers.state = 'seen'
      and transfers.amount_micros = final.amount_micros and transfers.payer is not distinct from final.payer
    returning transfers.subject`.execute(db)
  return new Set(rows.map(({ subject }) => subject))
}
