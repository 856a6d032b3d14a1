import { expect, test } from 'vitest'
import { hasEnded, nextStatus } from './states.ts'

test('nextStatus: a requested operation is done without a signature when it needs no transaction', () => {
  expect(nextStatus({ id: 'wop_1', status: 'requested' }, 'finish')).toBe('done')
})

test('nextStatus: throws when an operation that failed should be signed', () => {
  const next = () => nextStatus({ id: 'wop_1', status: 'failed' }, 'sign')
  expect(next).toThrow('wop_1 is failed: cannot sign')
})

test.each([
  ['requested', false],
  ['signed', false],
  ['done', true],
  ['failed', true],
] as const)('hasEnded: an operation that is %s: %s', (status, expected) => {
  expect(hasEnded({ status })).toBe(expected)
})
