import { usdc } from '@market/kernel/money'
import { expect, test } from 'vitest'
import {
  divide,
  minted,
  mintProblem,
  ratioAfterLoss,
  recallParts,
  SHARE,
  unredeemed,
  valueOfShares,
} from './shares.ts'

const USD = 1_000_000n
/** A vault whose shares have 12 decimals, as many as those of the pool. */
const RATIO = { vaultShares: 1n, shares: 1n }
const priceOf = (usd: bigint) => ({ value: usdc(usd), vaultShares: SHARE })

test('divide: the parts add up to the total, and none is more than one unit away', () => {
  expect(divide(10n, [1n, 1n, 1n])).toEqual([3n, 3n, 4n])
  expect(divide(0n, [5n, 7n])).toEqual([0n, 0n])
  expect(divide(7n, [0n, 0n])).toEqual([0n, 0n])
})

test('minted: what the receipt brought, rounded down for each part', () => {
  expect(minted(100n, 1n, 3n, RATIO)).toBe(33n)
  expect(minted(100n, 1n, 3n, { vaultShares: 0n, shares: 1n })).toBe(0n)
})

test('recallParts: all of it when the vault pays for everything, and otherwise the same fraction for everybody', () => {
  expect(recallParts([60n, 40n], { redeemed: 100n, whole: 100n }, RATIO)).toEqual([60n, 40n])
  expect(recallParts([60n, 40n], { redeemed: 50n, whole: 100n }, RATIO)).toEqual([30n, 20n])
})

test('unredeemed: what was not burned goes back in proportion, and nothing when more was burned', () => {
  expect(unredeemed([60n, 40n], { asked: 100n, redeemed: 40n })).toEqual([36n, 24n])
  expect(unredeemed([60n, 40n], { asked: 100n, redeemed: 140n })).toEqual([0n, 0n])
})

test('ratioAfterLoss: falls only when the shares that are left are not enough for all', () => {
  expect(ratioAfterLoss(100n, 100n, RATIO)).toBe(RATIO)
  expect(ratioAfterLoss(50n, 100n, RATIO)).toEqual({ vaultShares: 50n, shares: 100n })
  expect(ratioAfterLoss(0n, 100n, RATIO)).toEqual({ vaultShares: 0n, shares: 100n })
})

test('mintProblem: the first deposit has a minimum, and no deposit loses more than rounding', () => {
  expect(mintProblem(usdc(100n * USD - 1n), null, null)).toBe('below_first_minimum')
  expect(mintProblem(usdc(100n * USD), null, null)).toBeUndefined()
  expect(mintProblem(usdc(1n), RATIO, priceOf(USD))).toBeUndefined()
  // Somebody has raised the price: the smallest unit is worth 3 micros.
  expect(mintProblem(usdc(1n), RATIO, priceOf(2n * USD * SHARE))).toBe('loses_too_much')
  expect(mintProblem(usdc(100n * USD), RATIO, priceOf(999n))).toBe('not_depositable')
})

test('valueOfShares: nothing before the first receipt or reading', () => {
  expect(valueOfShares(SHARE, RATIO, priceOf(USD))).toBe(USD)
  expect([valueOfShares(SHARE, null, priceOf(USD)), valueOfShares(SHARE, RATIO, null)]).toEqual([0n, 0n])
})
