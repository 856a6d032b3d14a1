import { usdc } from '@market/kernel/money'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWithdrawable, partOf, SMALLEST_PART } from './withdrawal.ts'

const MINIMUM = usdc(50_000n)
const amounts = fc.bigInt({ min: 0n, max: 5_000_000n }).map(usdc)

test('partOf: pays the whole rest, or a part of at least 1 USD that leaves a rest of at least the minimum payout', () => {
  fc.assert(
    fc.property(amounts, amounts, (owed, idle) => {
      const part = partOf(owed, idle, MINIMUM)
      if (idle >= owed) return part === owed
      return part === 0n || (part >= SMALLEST_PART && part <= idle && owed - part >= MINIMUM)
    }),
  )
})

test('partOf: a withdrawal of 1.02 waits for the last 0.02, and one of 10 gets 9.95', () => {
  expect(partOf(usdc(1_020_000n), usdc(1_000_000n), MINIMUM)).toBe(0n)
  expect(partOf(usdc(10_000_000n), usdc(9_999_999n), MINIMUM)).toBe(9_950_000n)
  expect(partOf(usdc(10_000_000n), usdc(4_000_000n), MINIMUM)).toBe(4_000_000n)
})

test.each([
  [999_999n, false, false],
  [1_000_000n, false, true],
  [49_999n, true, false],
  [50_000n, true, true],
] as const)('isWithdrawable: %i micros, of all shares: %s → %s', (amount, isAll, expected) => {
  expect(isWithdrawable(usdc(amount), isAll, MINIMUM)).toBe(expected)
})
