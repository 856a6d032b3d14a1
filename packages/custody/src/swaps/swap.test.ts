import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { formatSol, leastAtPrice, withSlippage } from './swap.ts'

describe('withSlippage', () => {
  test.each([
    [10_000n, 50, 9_950n],
    [33_333_333n, 50, 33_166_667n],
    [33_333_333n, 300, 32_333_334n],
    [1n, 300, 1n],
    [10n ** 18n, 1, 999_900_000_000_000_000n],
  ])('%s lamports with %s bps: %s, rounded up', (out, bps, expected) => {
    expect(withSlippage(out, bps)).toBe(expected)
  })
})

describe('leastAtPrice', () => {
  test.each([
    // 5 USDC at 150 USD are 33,333,333.33 lamports; 95 % of them are 31,666,666.67.
    ['150.00', 31_666_667n],
    ['150', 31_666_667n],
    ['100.00', 47_500_000n],
    ['0.0000000015', 3_166_666_666_666_666_667n],
    ['999999999999999999.00', 1n],
  ])('5 USDC at %s USD: %s lamports', (price, expected) => {
    expect(leastAtPrice(usdc(5_000_000n), price)).toBe(expected)
  })

  test.each(['0', '0.00'])('a price of %s says nothing', (price) => {
    expect(leastAtPrice(usdc(5_000_000n), price)).toBeUndefined()
  })
})

describe('formatSol', () => {
  test.each([
    [1n, '0.000000001'],
    [33_166_667n, '0.033166667'],
    [33_330_000n, '0.03333'],
    [1_000_000_000n, '1.00'],
    [1_500_000_000n, '1.50'],
    [123_456_789_012n, '123.456789012'],
  ])('%s lamports: %s', (lamports, expected) => expect(formatSol(lamports)).toBe(expected))
})
