import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalOf } from './decimal.ts'

test.each([
  [0, '0.00'],
  [2, '2.00'],
  [0.5, '0.50'],
  [150.25, '150.25'],
  [1.5e-9, '0.0000000015'],
  [1e-18, '0.000000000000000001'],
  [1.25e21, '1250000000000000000000.00'],
  [123456789.123456, '123456789.123456'],
])('decimalOf: %d is %s', (value, text) => expect(decimalOf(value)).toBe(text))

test('decimalOf: has no exponent and the same value, for any number that is not negative', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(decimalOf(value)).toMatch(/^\d+\.\d{2,}$/)
      expect(Number(decimalOf(value))).toBe(value)
    }),
  )
})
