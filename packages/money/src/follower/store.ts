import type { FinalBlock, FinalMovements } from '@market/core/ports/chain'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'

/** How far a network was read. */
export interface Progress {
  /** Everything up to here is decided. */
  readonly final: FinalBlock
  /** What the treasury has after the last final block whose balances were read, and by how much it changed since. */
  readonly held: { readonly treasury: bigint; readonly moved: bigint } | null
  /** Up to where the newest blocks were read; null where only final blocks are read, and before the first reading. */
  readonly position: string | null
}

interface Addresses {
  readonly treasury: string
  readonly cold: string | null
}

const progressOf = (row: Selectable<Tables['followed_networks']>): Progress => ({
  final: { height: row.final_height, hash: row.final_hash },
  held: row.treasury_micros === null ? null : { treasury: row.treasury_micros, moved: row.moved_micros },
  position: row.position,
})

/** Undefined before the network was followed, and for another treasury than the one that was. */
export async function findProgress(
  db: Db,
  network: Network,
  { treasury, cold }: Addresses,
): Promise<Progress | undefined> {
  const row = await db
    .selectFrom('followed_networks')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  if (row === undefined || row.treasury !== treasury) return undefined
  return { ...progressOf(row), ...(row.cold !== cold && { held: null }) }
}

/** Of several workers that start at once, one decides where. What was read for another treasury says nothing about this one. */
export async function startFollowing(
  db: Db,
  network: Network,
  addresses: Addresses,
  from: FinalBlock,
): Promise<Progress> {
  const start = { ...addresses, final_height: from.height, final_hash: from.hash, final_at: from.at ?? null }
  const row = await db
    .insertInto('followed_networks')
    .values({ network, ...start })
    .onConflict((conflict) =>
      conflict
        .column('network')
        .doUpdateSet({
          ...{ ...start, position: null, head_height: null, read_at: null, confirmed_at: null },
          ...{ held_height: null, treasury_micros: null, cold_micros: null, moved_micros: 0n },
        })
        .where('followed_networks.treasury', '<>', addresses.treasury),
    )
    .returningAll()
    .executeTakeFirst()
  const started = row === undefined ? await findProgress(db, network, addresses) : progressOf(row)
  assert(started !== undefined, `${network} is followed`)
  return started
}

/** Up to where each network that was ever followed is decided. */
export async function findFinalHeights(db: Db): Promise<ReadonlyMap<Network, bigint>> {
  const rows = await db.selectFrom('followed_networks').select(['network', 'final_height']).execute()
  return new Map(rows.map((row) => [row.network as Network, row.final_height]))
}

/** Enough providers show the final block, whether or not it is a new one. */
export async function saveConfirmed(db: Db, network: Network, at: Date): Promise<void> {
  await db.updateTable('followed_networks').set({ confirmed_at: at }).where('network', '=', network).execute()
}

/** There was no block after those that were read. */
export async function saveRead(db: Db, network: Network, at: Date): Promise<void> {
  await db.updateTable('followed_networks').set({ read_at: at }).where('network', '=', network).execute()
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
  { to, change, treasuryHeld, coldHeld }: Pick<FinalMovements, 'to' | 'change' | 'treasuryHeld' | 'coldHeld'>,
  cold: string | null,
): Promise<boolean> {
  // Both or neither: what moves from one to the other would be missing, or be there twice.
  const isHeld = treasuryHeld !== undefined && (cold === null || coldHeld !== undefined)
  const held = {
    ...{ cold, held_height: to.height, treasury_micros: treasuryHeld ?? null },
    ...{ cold_micros: coldHeld ?? null, moved_micros: 0n },
  }
  const { numUpdatedRows } = await tx
    .updateTable('followed_networks')
    .set({
      final_height: to.height,
      final_hash: to.hash,
      final_at: to.at ?? null,
      ...(isHeld ? held : { moved_micros: sql<bigint>`moved_micros + ${change}` }),
    })
    .where('network', '=', network)
    .where('final_height', '=', from.height)
    .where('final_hash', '=', from.hash)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
