import { HOUR, later } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { Bounty, Claim } from '@market/offers/bounties'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bountyProblem, claimProblem, dueOf } from './acceptance.ts'

const budgets = fc.bigInt({ min: 1_000_000n, max: 1_000_000_000_000n }).map(usdc)

test('dueOf: 110 % of the budget, rounded up to a micro', () => {
  fc.assert(
    fc.property(budgets, (budget) => {
      const over = dueOf({ budget }) * 10n - budget * 11n
      return over >= 0n && over < 10n
    }),
  )
})

test.each(['claimed', 'completed', 'cancelled', 'expired'] as const)(
  'bountyProblem: no claim of a bounty with status %s can be accepted',
  (status) => {
    const refunded = bountyProblem({ status } as Bounty, true)
    expect(refunded?.extra.code).toBe('bounty_not_open')
    expect(refunded?.message).toContain('Your transfer is refunded')
    expect(bountyProblem({ status } as Bounty, false)?.message).toContain('Your transfer was not used')
  },
)

test('bountyProblem: an open bounty has none', () => {
  expect(bountyProblem({ status: 'open' } as Bounty, true)).toBeUndefined()
})

const NOW = new Date('2026-03-01T12:00:00Z')
const bounty = { status: 'open', createdAt: NOW, claimWindowHours: 24 } as Bounty

test.each([
  ['pending', 0, undefined],
  ['pending', 24 * HOUR - 1, undefined],
  ['pending', 24 * HOUR, 'expired'],
  ['withdrawn', 0, 'withdrawn'],
  ['rejected', 0, 'rejected'],
  ['expired', 0, 'expired'],
] as const)('claimProblem: claim %s, named after %i ms: %s', (status, afterMs, shown) => {
  const problem = claimProblem(bounty, { status, createdAt: NOW } as Claim, later(NOW, afterMs))
  if (shown === undefined) return expect(problem).toBeUndefined()
  expect(problem?.extra.code).toBe('claim_not_pending')
  expect(problem?.message).toContain(`This claim is ${shown}. Your transfer was not used`)
})
