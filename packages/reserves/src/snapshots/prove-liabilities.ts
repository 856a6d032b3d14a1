import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import {
  GROUP,
  groupsOf,
  type Leaf,
  nodeOf,
  pathOf,
  rootOf,
  type Step,
  type TreeNode,
} from '@market/kernel/merkle'
import { NETWORKS } from '@market/kernel/network'
import { findGroup, findLeavesOf, type Holders, hasLeaves } from './leaves/store.ts'
import { liabilitiesOf, type Snapshot, type SnapshotId } from './snapshot.ts'
import { findGroups, findNewest, findProven } from './store.ts'

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

interface ProofQuery {
  readonly limit: number
  /** Without it, the newest proof of each network is used. */
  readonly snapshotId?: string | undefined
  /** Only the liability of this account, which may have no holder. */
  readonly account?: string | undefined
}

/** The liabilities to these holders in one snapshot, or in the newest proof of each network; largest first. */
export async function proveLiabilities(
  ctx: Needs<'db' | 'clock'>,
  holders: Holders,
  { snapshotId, ...query }: ProofQuery,
): Promise<LiabilityProofs> {
  const found = snapshotId === undefined ? await newestProofs(ctx) : [await getProof(ctx, snapshotId)]
  const snapshots = new Map(found.map((snapshot) => [snapshot.id, snapshot]))
  const { leaves, count } = await findLeavesOf(ctx.db, [...snapshots.keys()], holders, query)
  const groups = treeReader(ctx)
  const proofs: LiabilityProof[] = []
  for (const { snapshotId, n, ...leaf } of leaves) {
    const snapshot = snapshots.get(snapshotId)
    assert(snapshot?.proof, 'a leaf belongs to a selected snapshot')
    const path = await groups.pathTo(snapshot, n)
    proofs.push({ snapshot, ...treeOf(snapshot, n), leaf, path })
  }
  return { proofs, omitted: count - leaves.length }
}

/** How many groups of the snapshot hold liabilities. The groups after them hold server wallets, a tree of their own. */
const liabilityGroups = ({ proof }: Snapshot): number => groupsOf(proof?.leaves ?? 0)

function treeOf(snapshot: Snapshot, n: number): Pick<LiabilityProof, 'root' | 'total'> {
  const { proof, wallets, balances } = snapshot
  if (n < liabilityGroups(snapshot) * GROUP)
    return { root: proof?.root ?? '', total: liabilitiesOf(balances) }
  assert(wallets !== null, `${snapshot.id} has a tree of server wallets`)
  return { root: wallets.root, total: wallets.total }
}

async function newestProofs({ db, clock }: Needs<'db' | 'clock'>): Promise<Snapshot[]> {
  const found = NETWORKS.map((network) => findNewest(db, network, clock.now(), 'proven'))
  return (await Promise.all(found)).filter((snapshot) => snapshot !== undefined)
}

async function getProof({ db }: Needs<'db'>, id: string): Promise<Snapshot> {
  const snapshot = await findProven(db, id)
  const count = (snapshot?.proof?.leaves ?? 0) + (snapshot?.wallets?.count ?? 0)
  if (snapshot !== undefined && (count === 0 || (await hasLeaves(db, snapshot.id)))) return snapshot
  throw new ApiError(
    'not_found',
    `The leaves of snapshot ${id} are not stored. Omit snapshot_id for the newest proof, or use a snapshot of the last 90 days that GET /api/solvency/anchors lists.`,
  )
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
    pathTo: async (snapshot: Snapshot, n: number): Promise<Step[]> => {
      const group = Math.floor(n / GROUP)
      const within = pathOf(await groupOf(snapshot.id, group), n % GROUP)
      const [roots, own] = [await rootsOf(snapshot.id), liabilityGroups(snapshot)]
      const above = group < own ? pathOf(roots.slice(0, own), group) : pathOf(roots.slice(own), group - own)
      return [...within, ...above]
    },
  }
}
