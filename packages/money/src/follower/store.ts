import type { FinalBlock, FinalMovements } from '@market/core/ports/chain'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import type { Selectable } from 'kysely'

/** How far a network was read. */
export interface Progress {
  /** Everything up to here is decided. */
  readonly final: FinalBlock
  /** What the treasury has after the final block; null before it was read there for the first time. */
  readonly held: bigint | null
  /** Up to where the newest blocks were read; null where only final blocks are read, and before the first reading. */
  readonly position: string | null
}

const progressOf = (row: Selectable<Tables['followed_networks']>): Progress => ({
  final: { height: row.final_height, hash: row.final_hash },
  held: row.treasury_micros,
  position: row.position,
})

export async function findProgress(db: Db, network: Network): Promise<Progress | undefined> {
  const row = await db
    .selectFrom('followed_networks')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  return row && progressOf(row)
}

/** Of several workers that start at once, one decides where. */
export async function startFollowing(db: Db, network: Network, from: FinalBlock): Promise<Progress> {
  const row = await db
    .insertInto('followed_networks')
    .values({ network, final_height: from.height, final_hash: from.hash })
    .onConflict((conflict) => conflict.column('network').doUpdateSet({ network }))
    .returningAll()
    .executeTakeFirstOrThrow()
  return progressOf(row)
}

/** Returns false when another worker has moved the position since it was read. */
export async function movePosition(
  tx: Tx,
  network: Network,
  { from, to, height }: { readonly from: string | null; readonly to: string; readonly height: bigint },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('followed_networks')
    .set({ position: to, head_height: height })
    .where('network', '=', network)
    .where('position', 'is not distinct from', from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Returns false when another worker has moved the final block since it was read. */
export async function moveFinal(
  tx: Tx,
  network: Network,
  from: FinalBlock,
  { to, held, coldHeld }: Pick<FinalMovements, 'to' | 'coldHeld'> & Pick<Progress, 'held'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('followed_networks')
    .set({
      final_height: to.height,
      final_hash: to.hash,
      treasury_micros: held,
      ...(coldHeld !== undefined && { cold_micros: coldHeld }),
    })
    .where('network', '=', network)
    .where('final_height', '=', from.height)
    .where('final_hash', '=', from.hash)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
