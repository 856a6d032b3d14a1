import { usdc } from '@market/kernel/money'
import type { Bounty, Claim } from '@market/offers/bounties'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueOf, refusalOf } from './acceptance.ts'

const budgets = fc.bigInt({ min: 1_000_000n, max: 1_000_000_000_000n }).map(usdc)

test('dueOf: 110 % of the budget, rounded up to a micro', () => {
  fc.assert(
    fc.property(budgets, (budget) => {
      const over = dueOf({ budget }) * 10n - budget * 11n
      return over >= 0n && over < 10n
    }),
  )
})

test.each([
  ['open', 'pending', undefined],
  ['open', 'withdrawn', 'claim_not_pending'],
  ['open', 'expired', 'claim_not_pending'],
  ['claimed', 'accepted', 'bounty_not_open'],
  ['claimed', 'rejected', 'bounty_not_open'],
  ['completed', 'accepted', 'bounty_not_open'],
  ['cancelled', 'rejected', 'bounty_not_open'],
  ['expired', 'expired', 'bounty_not_open'],
] as const)('refusalOf: bounty %s and claim %s: %s', (bountyStatus, claimStatus, code) => {
  const refusal = refusalOf({ status: bountyStatus } as Bounty, { status: claimStatus } as Claim)
  expect(refusal?.extra.code).toBe(code)
  if (refusal !== undefined) expect(refusal.message).toContain('Your transfer is refunded')
})
