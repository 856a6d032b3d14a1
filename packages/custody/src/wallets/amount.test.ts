import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatUnits, parseUnits, parseWanted, tokenUnits } from './amount.ts'

const units = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const decimals = fc.integer({ min: 0, max: 255 })

test('formatUnits: parseUnits returns the same units, for any amount and decimals', () => {
  fc.assert(
    fc.property(
      units,
      decimals,
      (amount, digits) => parseUnits(formatUnits(amount, digits), digits) === amount,
    ),
  )
})

test.each([
  [0n, 9, '0'],
  [5n, 0, '5'],
  [1_500_000n, 6, '1.5'],
  [1n, 18, '0.000000000000000001'],
])('formatUnits: %s with %s decimals is %s', (amount, digits, text) => {
  expect(formatUnits(amount, digits)).toBe(text)
})

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

test('parseWanted: an amount of SOL or USDC is a number, one of a token a decimal string', () => {
  expect(parseWanted({ asset: 'USDC', amount: 1.5 })).toEqual({ asset: 'USDC', amount: 1_500_000n })
  expect(parseWanted({ asset: MINT, amount: '1.5' })).toEqual({ mint: MINT, text: '1.5' })
  expect(parseWanted({ asset: MINT, amount: undefined })).toEqual({ mint: MINT, text: null })
  expect(() => parseWanted({ asset: 'SOL', amount: '1.5' })).toThrow('amount must be a number.')
  expect(() => parseWanted({ asset: MINT, amount: 1.5 })).toThrow(
    'amount must be a decimal string, as in "1.5".',
  )
})

test('tokenUnits: rejects more decimals than the mint has, nothing, and more than an account can hold', () => {
  expect(tokenUnits('1.5', 9)).toBe(1_500_000_000n)
  expect(tokenUnits('18446744073709551615', 0)).toBe(2n ** 64n - 1n)
  expect(() => tokenUnits('1.5', 0)).toThrow('amount must have at most 0 decimals.')
  for (const text of ['0', '18446744073709551616'])
    expect(() => tokenUnits(text, 0)).toThrow('amount must be above 0 and at most 18446744073709551615.')
})
