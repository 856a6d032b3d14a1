import { hash } from 'node:crypto'

/** One liability: so much of this account belongs to this wallet. The salt keeps a neighbour from guessing it. */
export interface Leaf {
  readonly account: string
  /** The wallet's key; null where the chain did not tell who paid. */
  readonly holder: string | null
  readonly micros: bigint
  /** 16 random bytes, hex; new for every leaf of every look. */
  readonly salt: string
}

/** A place in the tree: its hash, and all that is owed below it. */
export interface TreeNode {
  readonly hash: string
  readonly sum: bigint
}

/** One step from a leaf up to the root: what stands beside, and on which side. */
export interface Step extends TreeNode {
  readonly side: 'left' | 'right'
}

/** A leaf can never be read as a node nor a node as a leaf, for the first line of what is hashed differs. */
const LEAF = 'market.reserves.leaf.v1'
const NODE = 'market.reserves.node.v1'
const EMPTY = 'market.reserves.empty.v1'

/**
 * So many leaves stand together. A power of two, so that the tree over the groups is the same tree as the one over all
 * leaves, and a proof needs the leaves of one group and the roots of the others.
 */
export const GROUP = 1_024

/** Lines of text, so that anybody can hash the same in any language; no field but the account could hold a line's end. */
const hashOf = (...lines: readonly (string | bigint)[]): string => hash('sha256', lines.join('\n'))

export const nodeOf = ({ salt, account, holder, micros }: Leaf): TreeNode => ({
  hash: hashOf(LEAF, salt, account, holder ?? '', micros),
  sum: micros,
})

const above = (left: TreeNode, right: TreeNode): TreeNode => ({
  hash: hashOf(NODE, left.hash, left.sum, right.hash, right.sum),
  sum: left.sum + right.sum,
})

/** Pairs from the left; one that is left over moves up unchanged. */
function levelAbove(nodes: readonly TreeNode[]): TreeNode[] {
  const level: TreeNode[] = []
  for (let n = 0; n < nodes.length; n += 2) {
    const [left, right] = [nodes[n], nodes[n + 1]]
    if (left !== undefined) level.push(right === undefined ? left : above(left, right))
  }
  return level
}

export function rootOf(nodes: readonly TreeNode[]): TreeNode {
  let level = nodes
  while (level.length > 1) level = levelAbove(level)
  return level[0] ?? { hash: hashOf(EMPTY), sum: 0n }
}

/** What stands beside the way from one of the nodes up to their root. */
export function pathOf(nodes: readonly TreeNode[], n: number): Step[] {
  const path: Step[] = []
  for (let [level, at] = [nodes, n]; level.length > 1; [level, at] = [levelAbove(level), at >> 1]) {
    const beside = level[at ^ 1]
    if (beside !== undefined) path.push({ side: at % 2 === 0 ? 'right' : 'left', ...beside })
  }
  return path
}

/** The order of the hashes, which the salts make random: where a leaf stands tells nothing about it. */
export const byHash = (a: TreeNode, b: TreeNode): number => (a.hash < b.hash ? -1 : 1)

/** The root that this leaf and this path lead to, with its sum: proven when both are the published ones. */
export const rootBy = (leaf: Leaf, path: readonly Step[]): TreeNode =>
  path.reduce(
    (node, { side, ...beside }) => (side === 'left' ? above(beside, node) : above(node, beside)),
    nodeOf(leaf),
  )
