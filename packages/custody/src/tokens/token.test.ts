import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shorten, withSuffix } from './token.ts'

const SUFFIX = ' by Market'

test('withSuffix: appends the suffix once', () => {
  expect(withSuffix('Painter', SUFFIX)).toBe('Painter by Market')
  expect(withSuffix('Painter by Market', SUFFIX)).toBe('Painter by Market')
})

test('withSuffix: cuts the name, never the suffix, and has at most 32 characters, for any name', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), (name) => {
      const full = withSuffix(name, SUFFIX)
      return full.endsWith(SUFFIX) && [...full].length <= 32 && full.isWellFormed()
    }),
  )
})

test('shorten: does not cut a character in two', () => {
  expect(shorten('👨‍👩‍👧👨‍👩‍👧', 7, 96)).toBe('👨‍👩‍👧')
  expect(shorten('ééé', 3, 4)).toBe('éé')
})
