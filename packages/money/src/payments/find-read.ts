import type { ReadTransaction } from '@market/core/ports/chain'
import type { Db } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** Up to where blocks of a network were read, and final ones. Null where only final blocks are read. */
export const findHeights = (db: Db, network: Network) =>
  db
    .selectFrom('followed_networks')
    .select(['head_height as head', 'final_height as final'])
    .where('network', '=', network)
    .executeTakeFirst()

/** The transfers of a transaction as read. Undefined where one of them pays for something or is not certain: a node knows more. */
export async function findRead(
  db: Db,
  network: Network,
  reference: string,
): Promise<ReadTransaction | undefined> {
  const { head, final } = (await findHeights(db, network)) ?? { head: null, final: 0n }
  if (head === null) return undefined
  const rows = await db
    .selectFrom('transfers')
    .selectAll()
    .where('network', '=', network)
    .where('reference', '=', reference)
    .execute()
  // The newest block may be read in part.
  const isCertain = rows.every(
    ({ state, purpose, missing_since: missing, block_height: height }) =>
      purpose === '' &&
      missing === null &&
      height < head &&
      (state === 'final' || (state === 'seen' && height > final)),
  )
  if (rows.length === 0 || !isCertain) return undefined
  const transfers = rows.map((row) => ({
    index: row.transfer_index,
    payer: row.payer,
    amount: usdc(row.amount_micros),
    at: row.happened_at,
    block: { height: row.block_height, hash: row.block_hash },
    final: row.state === 'final',
  }))
  return { transfers, head }
}
