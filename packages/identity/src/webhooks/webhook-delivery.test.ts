import { expect, test } from 'vitest'
import { afterAttempt, TIMEOUT_MS } from './webhook-delivery.ts'

const AT = new Date('2026-01-01T00:00:00.000Z')
const afterMs = (ms: number) => new Date(AT.getTime() + ms)
const good = { at: AT, responseStatus: 204, failure: null }
const bad = { at: AT, responseStatus: 500, failure: 'The endpoint responded with status 500' }

test('TIMEOUT_MS is five seconds', () => {
  expect(TIMEOUT_MS).toBe(5_000)
})

test.each([
  { before: 0, result: good, status: 'delivered', dueAt: null, endedAt: AT },
  { before: 1, result: good, status: 'delivered', dueAt: null, endedAt: AT },
  { before: 2, result: good, status: 'delivered', dueAt: null, endedAt: AT },
  { before: 0, result: bad, status: 'pending', dueAt: afterMs(1_000), endedAt: null },
  { before: 1, result: bad, status: 'pending', dueAt: afterMs(4_000), endedAt: null },
  { before: 2, result: bad, status: 'dropped', dueAt: null, endedAt: AT },
])(
  'afterAttempt: status $status after $before attempts and response status $result.responseStatus',
  ({ before, result, ...then }) => {
    expect(afterAttempt({ attempts: before }, result)).toEqual({ ...then, attempts: before + 1 })
  },
)

test('afterAttempt: a timeout counts like a 5xx response', () => {
  const timeout = { at: AT, responseStatus: null, failure: 'The endpoint did not respond within 5 seconds' }
  expect(afterAttempt({ attempts: 0 }, timeout)).toEqual(afterAttempt({ attempts: 0 }, bad))
})
