import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatUsd, minus, parseUsd, plus, share, usdc, ZERO } from './money.ts'

/** All that can be written in 12 whole digits. */
const amounts = fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }).map(usdc)

describe('money', () => {
  test('formatting and parsing an amount returns the same amount', () => {
    fc.assert(fc.property(amounts, (amount) => parseUsd(formatUsd(amount)) === amount))
  })

  test('formats an amount with two to six decimals', () => {
    fc.assert(fc.property(amounts, (amount) => /^\d+\.\d{2,6}$/.test(formatUsd(amount))))
  })

  test.each([
    [0n, '0.00'],
    [1n, '0.000001'],
    [10n, '0.00001'],
    [12_500_000n, '12.50'],
    [12_340_000n, '12.34'],
    [12_345_600n, '12.3456'],
    [1_000_000_000_000n, '1000000.00'],
  ])('%s micros are formatted as %s', (micros, text) => {
    expect(formatUsd(usdc(micros))).toBe(text)
    expect(parseUsd(text)).toBe(micros)
  })

  test.each([
    ['7', 7_000_000n],
    ['7.1', 7_100_000n],
    ['007', 7_000_000n],
    ['999999999999.999999', 999_999_999_999_999_999n],
  ])('%s is an amount', (text, micros) => {
    expect(parseUsd(text)).toBe(micros)
  })

  test.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '-1',
    '+1',
    '1.',
    '.5',
    '1.0000001',
    '1,5',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '1_000',
    '١',
    '1234567890123',
  ])('%j is not an amount', (text) => {
    expect(parseUsd(text)).toBeUndefined()
  })

  test('rejects seven decimals even when the last is zero', () => {
    expect(parseUsd('1.0000000')).toBeUndefined()
  })

  test('share and remainder sum to the amount', () => {
    const bps = fc.bigInt({ min: 0n, max: 10_000n })
    fc.assert(
      fc.property(amounts, bps, (amount, part) => {
        const taken = share(amount, part)
        const rest = minus(amount, taken)
        return plus(taken, rest) === amount && taken <= amount
      }),
    )
  })

  test('share rounds down by less than one micro', () => {
    const bps = fc.bigInt({ min: 0n, max: 10_000n })
    fc.assert(
      fc.property(amounts, bps, (amount, part) => {
        const lost = amount * part - share(amount, part) * 10_000n
        return lost >= 0n && lost < 10_000n
      }),
    )
    expect(share(usdc(9n), 1_000n)).toBe(0n)
    expect(share(usdc(10n), 1_000n)).toBe(1n)
  })

  test('rejects negative money', () => {
    expect(() => usdc(-1n)).toThrow(RangeError)
    expect(() => minus(usdc(1n), usdc(2n))).toThrow(RangeError)
    expect(() => share(usdc(10_000n), -1n)).toThrow(RangeError)
    expect(minus(usdc(2n), usdc(2n))).toBe(ZERO)
  })
})
