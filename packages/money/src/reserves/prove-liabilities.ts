import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { NETWORKS } from '@market/kernel/network'
import { GROUP, type Leaf, nodeOf, pathOf, rootOf, type Step, type TreeNode } from './merkle.ts'
import { liabilitiesOf, type Snapshot, type SnapshotId } from './snapshot.ts'
import { findGroup, findGroups, findLeavesOf, findNewest, type Holders, type PlacedLeaf } from './store.ts'

/** Proves that a liability is included in the published sum. */
export interface LiabilityProof {
  readonly snapshot: Snapshot
  readonly root: string
  readonly total: bigint
  readonly leaf: Leaf
  readonly path: readonly Step[]
}

export interface LiabilityProofs {
  readonly proofs: readonly LiabilityProof[]
  /** Number of smaller liabilities beyond the limit. */
  readonly omitted: number
}

/** The liabilities to these holders in the newest proof of each network, largest first. */
export async function proveLiabilities(
  ctx: Needs<'db' | 'clock'>,
  holders: Holders,
  limit: number,
): Promise<LiabilityProofs> {
  const snapshots = new Map<SnapshotId, Snapshot>()
  for (const network of NETWORKS) {
    const snapshot = await findNewest(ctx.db, network, ctx.clock.now(), 'proven')
    if (snapshot !== undefined) snapshots.set(snapshot.id, snapshot)
  }
  const { leaves, count } = await findLeavesOf(ctx.db, [...snapshots.keys()], holders, limit)
  const groups = treeReader(ctx)
  const proofs: LiabilityProof[] = []
  for (const { snapshotId, n, ...leaf } of leaves) {
    const snapshot = snapshots.get(snapshotId)
    assert(snapshot?.proof, 'a leaf belongs to a selected snapshot')
    const path = await groups.pathTo({ snapshotId, n })
    proofs.push({ snapshot, root: snapshot.proof.root, total: liabilitiesOf(snapshot.balances), leaf, path })
  }
  return { proofs, omitted: count - leaves.length }
}

/** Reads each group only once. */
function treeReader({ db }: Needs<'db'>) {
  const roots = new Map<SnapshotId, readonly TreeNode[]>()
  const groups = new Map<string, readonly TreeNode[]>()

  const rootsOf = async (snapshotId: SnapshotId): Promise<readonly TreeNode[]> => {
    const known = roots.get(snapshotId) ?? (await findGroups(db, snapshotId))
    roots.set(snapshotId, known)
    return known
  }

  const groupOf = async (snapshotId: SnapshotId, group: number): Promise<readonly TreeNode[]> => {
    const key = `${snapshotId} ${group}`
    const known = groups.get(key)
    if (known !== undefined) return known
    const nodes = (await findGroup(db, snapshotId, group)).map(nodeOf)
    const kept = (await rootsOf(snapshotId))[group]
    assert(rootOf(nodes).hash === kept?.hash, `group ${group} of ${snapshotId} has the stored root`)
    groups.set(key, nodes)
    await yieldToEventLoop()
    return nodes
  }

  return {
    pathTo: async ({ snapshotId, n }: Pick<PlacedLeaf, 'snapshotId' | 'n'>): Promise<Step[]> => {
      const group = Math.floor(n / GROUP)
      const within = pathOf(await groupOf(snapshotId, group), n % GROUP)
      return [...within, ...pathOf(await rootsOf(snapshotId), group)]
    },
  }
}
