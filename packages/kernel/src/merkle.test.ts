import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  byHash,
  GROUP,
  type Leaf,
  nodeOf,
  pathOf,
  rootBy,
  rootOf,
  type Step,
  type TreeNode,
} from './merkle.ts'

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => Buffer.from(array).toString('hex'))

const leaves = fc.uniqueArray(
  fc.record<Leaf>({
    account: fc.string({ minLength: 1, maxLength: 40 }),
    holder: fc.option(fc.constantFrom(`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`)),
    micros: fc.bigInt({ min: 1n, max: 2n ** 62n }),
    salt: hex(16),
  }),
  { minLength: 1, maxLength: 70, selector: ({ salt }) => salt },
)

const nodesOf = (some: readonly Leaf[]): TreeNode[] => some.map(nodeOf).sort(byHash)
const placeOf = (nodes: readonly TreeNode[], leaf: Leaf): number =>
  nodes.findIndex(({ hash }) => hash === nodeOf(leaf).hash)

/** All variants of a proof with one change. */
function* changed(leaf: Leaf, path: readonly Step[]): Generator<readonly [Leaf, readonly Step[]]> {
  yield [{ ...leaf, account: `${leaf.account}x` }, path]
  yield [{ ...leaf, holder: leaf.holder === null ? `0x${'c'.repeat(40)}` : null }, path]
  yield [{ ...leaf, micros: leaf.micros + 1n }, path]
  yield [{ ...leaf, micros: leaf.micros - 1n }, path]
  yield [{ ...leaf, salt: leaf.salt.replace(/^./, (first) => (first === '0' ? '1' : '0')) }, path]
  for (const [at, step] of path.entries()) {
    const side = step.side === 'left' ? 'right' : 'left'
    const hash = step.hash.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const other of [{ side }, { hash }, { sum: step.sum + 1n }, { sum: step.sum - 1n }] as const)
      yield [leaf, path.with(at, { ...step, ...other })]
    yield [leaf, path.toSpliced(at, 1)]
  }
}

describe('merkle tree', () => {
  test('every leaf of any set is proven, and the sum of the root is the sum of the leaves', () => {
    fc.assert(
      fc.property(leaves, (some) => {
        const nodes = nodesOf(some)
        const root = rootOf(nodes)
        expect(root.sum).toBe(some.reduce((sum, { micros }) => sum + micros, 0n))
        for (const leaf of some) expect(rootBy(leaf, pathOf(nodes, placeOf(nodes, leaf)))).toEqual(root)
      }),
    )
  })

  test('a proof with any field, sum, hash or side changed results in another root', () => {
    fc.assert(
      fc.property(leaves, fc.nat(), (some, n) => {
        const leaf = some[n % some.length]
        if (leaf === undefined) throw new Error('there is a leaf')
        const nodes = nodesOf(some)
        const path = pathOf(nodes, placeOf(nodes, leaf))
        const root = rootOf(nodes)
        for (const [otherLeaf, otherPath] of changed(leaf, path))
          expect(rootBy(otherLeaf, otherPath).hash).not.toBe(root.hash)
      }),
    )
  })

  test('the root does not depend on the order of the leaves', () => {
    const shuffled = leaves.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    )
    fc.assert(
      fc.property(shuffled, ([some, others]) => {
        expect(rootOf(nodesOf(others))).toEqual(rootOf(nodesOf(some)))
      }),
    )
  })

  test.each([1, 2, 3, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP, 5 * GROUP + 3])(
    '%d leaves: the root over groups equals the root over all leaves',
    (count) => {
      const nodes: TreeNode[] = Array.from({ length: count }, (_, n) =>
        nodeOf({ account: `escrow:${n}`, holder: null, micros: BigInt(n + 1), salt: '00'.repeat(16) }),
      )
      const groups: TreeNode[] = []
      for (let first = 0; first < count; first += GROUP)
        groups.push(rootOf(nodes.slice(first, first + GROUP)))
      expect(rootOf(groups)).toEqual(rootOf(nodes))
      for (const n of [0, count >> 1, count - 1]) {
        const group = Math.floor(n / GROUP)
        const within = pathOf(nodes.slice(group * GROUP, (group + 1) * GROUP), n % GROUP)
        expect([...within, ...pathOf(groups, group)]).toEqual(pathOf(nodes, n))
      }
    },
  )

  test('an empty tree has a root with sum zero', () => {
    expect(rootOf([])).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), sum: 0n })
  })

  test('leaves have different hashes when text is moved between fields', () => {
    const leaf: Leaf = { account: 'a', holder: 'b', micros: 12n, salt: '0'.repeat(32) }
    const others: Leaf[] = [
      { ...leaf, account: 'a\nb', holder: null },
      { ...leaf, account: 'ab', holder: null },
      { ...leaf, holder: 'b1', micros: 2n },
    ]
    for (const other of others) expect(nodeOf(other).hash).not.toBe(nodeOf(leaf).hash)
  })
})
