import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { anchorShapeProblem, inclusionProblem, micros, rootBy, usd } from './merkle-proof.ts'

const sha256 = (...lines: unknown[]) => createHash('sha256').update(lines.join('\n')).digest('hex')

const leaf = { account: 'escrow:a', holder: '0xabc', amount_usd: '5.00', micros: '5000000', salt: 'ab' }
const own = sha256('market.reserves.leaf.v1', 'ab', 'escrow:a', '0xabc', '5000000')
const beside = { side: 'left' as const, hash: 'cd'.repeat(32), sum: '7000000' }
const root = sha256('market.reserves.node.v1', 'cd'.repeat(32), '7000000', own, '5000000')
const proof = {
  network: 'base-mainnet' as const,
  snapshot_id: 'rsv_1',
  checked_at: '',
  root,
  total_usd: '12.00',
  leaf,
  path: [beside],
}
const published = { root, sum: 12_000_000n, where: 'anchored 2026-11-16' }

test('a leaf and its path result in the root and the sum of the documentation', () => {
  expect(rootBy(proof)).toEqual({ hash: root, sum: 12_000_000n })
  expect(inclusionProblem(proof, published)).toBeUndefined()
})

test.each([
  [{ ...proof, leaf: { ...leaf, micros: '4000000' } }, published, /another root/],
  [{ ...proof, path: [{ ...beside, sum: '-1' }] }, published, /not a number of zero or more/],
  [proof, { ...published, sum: 11_000_000n }, /adds up to 12\.00 instead of 11\.00/],
  [{ ...proof, leaf: { ...leaf, account: 'escrow:a\n0xabc' } }, published, /control character/],
  [{ ...proof, path: [{ ...beside, hash: 'cd\n1' }] }, published, /hash of the path is malformed/],
  [proof, undefined, /neither anchored nor published/],
])('a proof that does not match is a problem (%#)', (tampered, expected, problem) => {
  expect(inclusionProblem(tampered, expected)).toMatch(problem)
})

test.each(['0.00', '5.50', '12.345678', '9007199254740993.01'])('%s is read and written exactly', (text) => {
  expect(usd(micros(text))).toBe(text)
})

const entry = {
  network: 'base-mainnet' as const,
  snapshot_id: 'rsv_1',
  root,
  total_usd: '12.00',
  total_micros: '12000000',
  agent_wallets: null,
}

test.each([
  [[{ ...entry, snapshot_id: 'rsv_1 a' }], /malformed/],
  [[{ ...entry, root: root.toUpperCase() }], /malformed/],
  [[{ ...entry, total_micros: '-1' }], /malformed/],
  [[entry, entry], /listed twice/],
])('an anchor whose fields can be hashed in two ways is a problem (%#)', (networks, problem) => {
  expect(anchorShapeProblem({ day: '2026-11-16', networks: [entry] })).toBeUndefined()
  expect(anchorShapeProblem({ day: '2026-11-16', networks })).toMatch(problem)
})
