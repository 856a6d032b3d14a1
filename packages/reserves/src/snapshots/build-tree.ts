import { randomBytes } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { byHash, GROUP, type Leaf, nodeOf, rootOf, type TreeNode } from '@market/kernel/merkle'
import type { Liability } from './leaves/store.ts'

const SALT_BYTES = 16

export interface Tree {
  readonly leaves: readonly Leaf[]
  readonly groups: readonly TreeNode[]
  readonly root: TreeNode
}

/** Builds a tree of liabilities. Yields between groups, because 100,000 hashes block the event loop for too long. */
export async function buildTree(liabilities: readonly Liability[]): Promise<Tree> {
  const placed: { readonly leaf: Leaf; readonly node: TreeNode }[] = []
  for (let first = 0; first < liabilities.length; first += GROUP) {
    const group = liabilities.slice(first, first + GROUP)
    const salts = randomBytes(SALT_BYTES * group.length)
    for (const [n, { account, holder, micros }] of group.entries()) {
      const salt = salts.toString('hex', n * SALT_BYTES, (n + 1) * SALT_BYTES)
      const leaf = { account, holder, micros, salt }
      placed.push({ leaf, node: nodeOf(leaf) })
    }
    await yieldToEventLoop()
  }
  placed.sort((a, b) => byHash(a.node, b.node))
  const groups: TreeNode[] = []
  for (let first = 0; first < placed.length; first += GROUP) {
    groups.push(rootOf(placed.slice(first, first + GROUP).map(({ node }) => node)))
    await yieldToEventLoop()
  }
  return { leaves: placed.map(({ leaf }) => leaf), groups, root: rootOf(groups) }
}
