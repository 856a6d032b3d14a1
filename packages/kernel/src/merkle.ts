import { hash } from 'node:crypto'

/** One liability: the balance of an account and its holder. The salt prevents guessing the leaf from its hash. */
export interface Leaf {
  readonly account: string
  /** The wallet's key; null when the payer is unknown. */
  readonly holder: string | null
  readonly micros: bigint
  /** 16 random bytes, hex; new for every leaf of every snapshot. */
  readonly salt: string
}

/** A node of the tree: its hash and the sum of all liabilities below it. */
export interface TreeNode {
  readonly hash: string
  readonly sum: bigint
}

/** One step from a leaf to the root: the sibling node and its side. */
export interface Step extends TreeNode {
  readonly side: 'left' | 'right'
}

/** The first line of the hashed text differs, so that a leaf cannot be presented as a node or the reverse. */
const LEAF = 'market.reserves.leaf.v1'
const NODE = 'market.reserves.node.v1'
const EMPTY = 'market.reserves.empty.v1'

/**
 * Leaves per group. A power of two, so that the tree over the group roots equals the tree over all leaves; a proof then
 * reads the leaves of one group and the roots of the others.
 */
export const GROUP = 1_024

/** How many groups so many leaves have. */
export const groupsOf = (leaves: number): number => Math.ceil(leaves / GROUP)

/** Hashes lines of text, which is easy to repeat in any language. Only the account could contain a line break. */
const hashOf = (...lines: readonly (string | bigint)[]): string => hash('sha256', lines.join('\n'))

export const nodeOf = ({ salt, account, holder, micros }: Leaf): TreeNode => ({
  hash: hashOf(LEAF, salt, account, holder ?? '', micros),
  sum: micros,
})

const parentOf = (left: TreeNode, right: TreeNode): TreeNode => ({
  hash: hashOf(NODE, left.hash, left.sum, right.hash, right.sum),
  sum: left.sum + right.sum,
})

/** Pairs nodes from the left; an odd last node moves up unchanged. */
function nextLevel(nodes: readonly TreeNode[]): TreeNode[] {
  const level: TreeNode[] = []
  for (let n = 0; n < nodes.length; n += 2) {
    const [left, right] = [nodes[n], nodes[n + 1]]
    if (left !== undefined) level.push(right === undefined ? left : parentOf(left, right))
  }
  return level
}

export function rootOf(nodes: readonly TreeNode[]): TreeNode {
  let level = nodes
  while (level.length > 1) level = nextLevel(level)
  return level[0] ?? { hash: hashOf(EMPTY), sum: 0n }
}

/** The siblings on the path from node `n` to the root. */
export function pathOf(nodes: readonly TreeNode[], n: number): Step[] {
  const path: Step[] = []
  for (let [level, at] = [nodes, n]; level.length > 1; [level, at] = [nextLevel(level), at >> 1]) {
    const sibling = level[at ^ 1]
    if (sibling !== undefined) path.push({ side: at % 2 === 0 ? 'right' : 'left', ...sibling })
  }
  return path
}

/** The salts make the hashes random, so the position of a leaf reveals nothing about it. */
export const byHash = (a: TreeNode, b: TreeNode): number => (a.hash < b.hash ? -1 : 1)

/** The root and sum that a leaf and its path result in. The proof is valid when both equal the published ones. */
export const rootBy = (leaf: Leaf, path: readonly Step[]): TreeNode =>
  path.reduce(
    (node, { side, ...sibling }) => (side === 'left' ? parentOf(sibling, node) : parentOf(node, sibling)),
    nodeOf(leaf),
  )
