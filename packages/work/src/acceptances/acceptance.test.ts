import type { IncomingTransfer } from '@market/core/ports/chain'
import { HOUR, later } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { Bounty, Claim } from '@market/offers/bounties'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Acceptance, bountyProblem, claimProblem, dueOf, lateRefund } from './acceptance.ts'

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
    const refunded = bountyProblem({ status } as Bounty, 'always')
    expect(refunded?.extra.code).toBe('bounty_not_open')
    expect(refunded?.message).toContain('Your transfer is refunded to the wallet that made it')
    const proven = bountyProblem({ status } as Bounty, 'if_proven')
    expect(proven?.message).toContain('refunded when the wallet that signed this request made it')
    expect(bountyProblem({ status } as Bounty, 'never')?.message).toContain('Your transfer was not used')
  },
)

test('bountyProblem: an open bounty has none', () => {
  expect(bountyProblem({ status: 'open' } as Bounty, 'always')).toBeUndefined()
})

test.each([
  ['a transfer of a proven wallet', ['a'], 'a', ['a'], 'always'],
  ['a transfer of the owner of an API key', ['a'], 'b', ['a', 'b'], 'never'],
  ['an unconfirmed one, and each payer is proven', ['a', 'b'], undefined, ['a', 'b'], 'always'],
  ['an unconfirmed one, and no payer is proven', [], undefined, ['b'], 'never'],
  ['an unconfirmed one, and one of two payers is proven', ['a'], undefined, ['a', 'b'], 'if_proven'],
] as const)('lateRefund: %s', (_, provenPayers, payer, payers, refund) => {
  const transfer = payer === undefined ? undefined : ({ payer } as IncomingTransfer)
  expect(lateRefund({ provenPayers } as unknown as Acceptance, transfer, payers)).toBe(refund)
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
