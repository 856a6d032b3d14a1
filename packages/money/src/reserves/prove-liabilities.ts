import { setImmediate as breathe } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { NETWORKS } from '@market/kernel/network'
import { GROUP, type Leaf, nodeOf, pathOf, rootOf, type Step, type TreeNode } from './merkle.ts'
import { liabilitiesOf, type Snapshot, type SnapshotId } from './snapshot.ts'
import { findGroup, findGroups, findLeavesOf, findNewest, type Holders, type PlacedLeaf } from './store.ts'

/** That a liability is counted in the published sum. */
export interface LiabilityProof {
  readonly look: Snapshot
  readonly root: string
  readonly total: bigint
  readonly leaf: Leaf
  readonly path: readonly Step[]
}

export interface LiabilityProofs {
  readonly proofs: readonly LiabilityProof[]
  /** How many smaller ones there are beyond the limit. */
  readonly omitted: number
}

/** What the newest proof of each network counts as owed to these holders, the largest first. */
export async function proveLiabilities(
  ctx: Needs<'db' | 'clock'>,
  holders: Holders,
  limit: number,
): Promise<LiabilityProofs> {
  const snapshots = new Map<SnapshotId, Snapshot>()
  for (const network of NETWORKS) {
    const look = await findNewest(ctx.db, network, ctx.clock.now(), 'proven')
    if (look !== undefined) snapshots.set(look.id, look)
  }
  const { leaves, count } = await findLeavesOf(ctx.db, [...snapshots.keys()], holders, limit)
  const groups = treeReader(ctx)
  const proofs: LiabilityProof[] = []
  for (const { lookId, n, ...leaf } of leaves) {
    const look = snapshots.get(lookId)
    assert(look?.proof, 'a leaf is of a look that was asked for')
    const path = await groups.pathTo({ lookId, n })
    proofs.push({ look, root: look.proof.root, total: liabilitiesOf(look.books), leaf, path })
  }
  return { proofs, omitted: count - leaves.length }
}

/** Reads each group once, however many of its leaves are asked for. */
function treeReader({ db }: Needs<'db'>) {
  const roots = new Map<SnapshotId, readonly TreeNode[]>()
  const groups = new Map<string, readonly TreeNode[]>()

  const rootsOf = async (lookId: SnapshotId): Promise<readonly TreeNode[]> => {
    const known = roots.get(lookId) ?? (await findGroups(db, lookId))
    roots.set(lookId, known)
    return known
  }

  const groupOf = async (lookId: SnapshotId, group: number): Promise<readonly TreeNode[]> => {
    const key = `${lookId} ${group}`
    const known = groups.get(key)
    if (known !== undefined) return known
    const nodes = (await findGroup(db, lookId, group)).map(nodeOf)
    const kept = (await rootsOf(lookId))[group]
    assert(rootOf(nodes).hash === kept?.hash, `group ${group} of ${lookId} is as it was written`)
    groups.set(key, nodes)
    await breathe()
    return nodes
  }

  return {
    pathTo: async ({ lookId, n }: Pick<PlacedLeaf, 'lookId' | 'n'>): Promise<Step[]> => {
      const group = Math.floor(n / GROUP)
      const within = pathOf(await groupOf(lookId, group), n % GROUP)
      return [...within, ...pathOf(await rootsOf(lookId), group)]
    },
  }
}
