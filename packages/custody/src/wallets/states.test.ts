import { expect, test } from 'vitest'
import { hasEnded } from './states.ts'

test.each([
  ['requested', false],
  ['signed', false],
  ['done', true],
  ['failed', true],
] as const)('hasEnded: an operation that is %s: %s', (status, expected) => {
  expect(hasEnded({ status })).toBe(expected)
})
