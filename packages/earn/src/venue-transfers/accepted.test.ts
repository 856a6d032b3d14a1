import { usdc } from '@market/kernel/money'
import { expect, test } from 'vitest'
import { acceptedProblem } from './accepted.ts'

const DEPLOY = { kind: 'deploy', askedShares: null } as const
const RECALL = { kind: 'recall', askedShares: 100n } as const
const ARRIVED = 50_000_000n

test.each([
  ['what the wallet has more than the pool', 30n, 30n, undefined],
  ['less of it', 29n, 30n, undefined],
  ['more than the wallet has', 31n, 0n, 'only 30 shares of the vault that are not counted yet'],
  ['shares of another deposit in the wallet', 30n, 20n, 'brought only 20 shares'],
])('acceptedProblem of a deploy: %s', (_what, venueShares, brought, problem) => {
  const facts = { held: 1_030n, known: 1_000n, moved: { arrived: 0n, shares: brought } }
  const found = acceptedProblem(DEPLOY, { venueShares, assets: usdc(0n) }, facts)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(problem)
})

test('acceptedProblem of a deploy: nothing is accepted from a wallet that has less than the pool counts', () => {
  const facts = { held: 900n, known: 1_000n, moved: { arrived: 0n, shares: 0n } }
  expect(acceptedProblem(DEPLOY, { venueShares: 1n, assets: usdc(0n) }, facts)).toContain('only 0 shares')
})

test.each([
  ['all that was asked for', 100n, ARRIVED, 0n, undefined],
  ['a part, and the rest is still in the wallet', 40n, ARRIVED, 60n, undefined],
  ['nothing arrived for shares that are gone', 100n, 0n, 0n, undefined],
  ['nothing was burned and nothing arrived', 0n, 0n, 100n, undefined],
  ['fewer than left the wallet', 99n, ARRIVED, 0n, '100 shares of the vault left the wallet'],
  ['one, although all are gone', 1n, ARRIVED, 0n, '100 shares of the vault left the wallet'],
  ['more than was asked for', 101n, ARRIVED, 0n, 'only 100 shares of the vault can have been burned'],
  ['none, although USDC arrived', 0n, ARRIVED, 100n, 'so shares of the vault were burned'],
])('acceptedProblem of a recall: %s', (_what, venueShares, arrived, rest, problem) => {
  const facts = { held: 1_000n + rest, known: 1_000n, moved: { arrived, shares: rest - 100n } }
  const found = acceptedProblem(RECALL, { venueShares, assets: usdc(arrived) }, facts)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(problem)
})

test('acceptedProblem of a recall: the USDC is what arrived, also when operators read less or nothing', () => {
  const facts = { held: 1_000n, known: 1_000n, moved: { arrived: ARRIVED, shares: -100n } }
  for (const assets of [0n, ARRIVED - 1n, ARRIVED + 1n])
    expect(acceptedProblem(RECALL, { venueShares: 100n, assets: usdc(assets) }, facts)).toContain(
      'paid 50000000 micro-USDC',
    )
})

test('acceptedProblem of a recall: shares that somebody sent to the wallet do not hide what was burned', () => {
  const facts = { held: 1_500n, known: 1_000n, moved: { arrived: ARRIVED, shares: -100n } }
  const accepted = { venueShares: 1n, assets: usdc(ARRIVED) }
  expect(acceptedProblem(RECALL, accepted, facts)).toContain('100 shares of the vault left the wallet')
})

test('acceptedProblem of a recall: of more than was asked for, what is gone can be accepted', () => {
  const facts = { held: 950n, known: 1_000n, moved: { arrived: ARRIVED, shares: -150n } }
  for (const venueShares of [100n, 150n])
    expect(acceptedProblem(RECALL, { venueShares, assets: usdc(ARRIVED) }, facts)).toBeUndefined()
})
