import { describe, expect, test } from 'vitest'
import { microsOf, usdOf } from './usdc.ts'

describe('amounts in dollars', () => {
  test.each([
    ['5.50', 5_500_000n],
    ['0', 0n],
    ['0.000001', 1n],
    ['999999999999999.999999', 999_999_999_999_999_999_999n],
  ])('%s is %i millionths', (text, micros) => {
    expect(microsOf(text)).toBe(micros)
  })

  test.each(['', '.5', '5.', '1e3', '-1', '+1', '0x10', '1.0000001', '1,5', ' 1', 'NaN'])(
    '%j is none',
    (text) => {
      expect(microsOf(text)).toBeUndefined()
    },
  )

  test.each([0n, 1n, 10n, 999_999n, 1_000_000n, 5_500_000n, 10_999_999n, 10n ** 20n])(
    '%i millionths are the same after they were written and read',
    (micros) => {
      const text = usdOf(micros)
      expect(text).toMatch(/^\d+\.\d{2,6}$/)
      expect(microsOf(text)).toBe(micros)
    },
  )
})
