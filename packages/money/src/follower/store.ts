import type { FinalBlock } from '@market/core/ports/chain'
import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'

/** How far a network was read. */
export interface Followed {
  /** Everything up to here is decided. */
  readonly final: FinalBlock
  /** Up to where the newest blocks were read; null where only final blocks are read, and before the first reading. */
  readonly position: string | null
}

export async function findFollowed(db: Db, network: Network): Promise<Followed | undefined> {
  const row = await db
    .selectFrom('followed_networks')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  return row && { final: { height: row.final_height, hash: row.final_hash }, position: row.position }
}

/** Of several workers that start at once, one decides. */
export async function startFollowing(
  db: Db,
  network: Network,
  { height, hash }: FinalBlock,
  at: Date,
): Promise<void> {
  await db
    .insertInto('followed_networks')
    .values({ network, final_height: height, final_hash: hash, read_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Returns false when another worker has moved the position since it was read. */
export async function movePosition(
  tx: Tx,
  network: Network,
  { from, to, height }: { readonly from: string | null; readonly to: string; readonly height: bigint },
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('followed_networks')
    .set({ position: to, head_height: height, read_at: at })
    .where('network', '=', network)
    .where('position', 'is not distinct from', from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Returns false when another worker has moved the final block since it was read. */
export async function moveFinal(
  tx: Tx,
  network: Network,
  { from, to }: { readonly from: FinalBlock; readonly to: FinalBlock },
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('followed_networks')
    .set({ final_height: to.height, final_hash: to.hash, read_at: at })
    .where('network', '=', network)
    .where('final_height', '=', from.height)
    .where('final_hash', '=', from.hash)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
