import { randomBytes } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { assert } from '@market/kernel/assert'
import { byHash, GROUP, type Leaf, nodeOf, rootOf, type TreeNode } from './merkle.ts'
import { type Books, liabilitiesOf } from './snapshot.ts'
import type { Liability } from './store.ts'

const SALT_BYTES = 16

export interface Tree {
  readonly leaves: readonly Leaf[]
  readonly groups: readonly TreeNode[]
  readonly root: TreeNode
}

/** Salts and sorts what is owed. Lets others work between two groups, for a hundred thousand hashes take a while. */
export async function treeOver(liabilities: readonly Liability[], books: Books): Promise<Tree> {
  const placed: { readonly leaf: Leaf; readonly node: TreeNode }[] = []
  for (let first = 0; first < liabilities.length; first += GROUP) {
    const group = liabilities.slice(first, first + GROUP)
    const salts = randomBytes(SALT_BYTES * group.length)
    for (const [n, { account, holder, micros }] of group.entries()) {
      const salt = salts.toString('hex', n * SALT_BYTES, (n + 1) * SALT_BYTES)
      const leaf = { account, holder, micros, salt }
      placed.push({ leaf, node: nodeOf(leaf) })
    }
    await breathe()
  }
  placed.sort((a, b) => byHash(a.node, b.node))
  const groups: TreeNode[] = []
  for (let first = 0; first < placed.length; first += GROUP) {
    groups.push(rootOf(placed.slice(first, first + GROUP).map(({ node }) => node)))
    await breathe()
  }
  const root = rootOf(groups)
  assert(root.sum === liabilitiesOf(books), 'the leaves are all that is owed')
  return { leaves: placed.map(({ leaf }) => leaf), groups, root }
}
