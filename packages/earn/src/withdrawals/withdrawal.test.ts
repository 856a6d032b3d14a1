import { usdc, ZERO } from '@market/kernel/money'
import { expect, test } from 'vitest'
import { isWithdrawable, partOf } from './withdrawal.ts'

const USD = 1_000_000n
const LIMITS = { minPayout: usdc(50_000n), perPayout: usdc(1_000n * USD) }

test('isWithdrawable: at least 1 USD, or all of the shares', () => {
  expect(isWithdrawable(usdc(USD), false)).toBe(true)
  expect(isWithdrawable(usdc(USD - 1n), false)).toBe(false)
  expect(isWithdrawable(ZERO, true)).toBe(true)
})

test('partOf: a rest that cannot be paid by itself is not left', () => {
  expect(partOf(usdc(2n * USD), usdc(49_999n), LIMITS)).toBe(2n * USD - 50_000n)
  expect(partOf(usdc(2n * USD), usdc(50_000n), LIMITS)).toBe(2n * USD)
  expect(partOf(usdc(2n * USD), null, LIMITS)).toBe(2n * USD)
})

test('partOf: nothing below 1 USD while more comes, and nothing below the minimum payout at the end', () => {
  expect(partOf(usdc(USD - 1n), usdc(USD), LIMITS)).toBe(ZERO)
  expect(partOf(usdc(USD - 1n), null, LIMITS)).toBe(USD - 1n)
  expect(partOf(usdc(49_999n), null, LIMITS)).toBe(ZERO)
})

test('partOf: nothing above the payout cap, and what is left then can be paid', () => {
  for (const unpaid of [1_000n * USD + 1n, 1_000n * USD + 49_999n, 2_500n * USD]) {
    const part = partOf(usdc(unpaid), null, LIMITS)
    expect(part).toBeLessThanOrEqual(LIMITS.perPayout)
    expect(unpaid - part).toBeGreaterThanOrEqual(LIMITS.minPayout)
  }
})
