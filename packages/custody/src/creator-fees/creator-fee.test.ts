import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatSol } from './creator-fee.ts'

test.each([
  [0n, '0'],
  [1n, '0.000000001'],
  [1_500_000_000n, '1.5'],
  [20_000_000_000n, '20'],
  [-5_000n, '-0.000005'],
])('formatSol: %s lamports is %s SOL', (lamports, sol) => {
  expect(formatSol(lamports)).toBe(sol)
})

test('formatSol: loses no digit of any amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (lamports) => {
      const [whole = '', decimals = ''] = formatSol(lamports).split('.')
      return BigInt(whole + decimals.padEnd(9, '0')) === lamports
    }),
  )
})
