import { expect, test } from 'vitest'
import { afterAttempt, TIMEOUT_MS } from './delivery.ts'

const AT = new Date('2026-01-01T00:00:00.000Z')
const inMs = (ms: number) => new Date(AT.getTime() + ms)
const good = { at: AT, responseStatus: 204, failure: null }
const bad = { at: AT, responseStatus: 500, failure: 'The endpoint answered 500' }

test('an attempt may take five seconds', () => {
  expect(TIMEOUT_MS).toBe(5_000)
})

test.each([
  { before: 0, outcome: good, status: 'delivered', dueAt: null, endedAt: AT },
  { before: 1, outcome: good, status: 'delivered', dueAt: null, endedAt: AT },
  { before: 2, outcome: good, status: 'delivered', dueAt: null, endedAt: AT },
  { before: 0, outcome: bad, status: 'pending', dueAt: inMs(1_000), endedAt: null },
  { before: 1, outcome: bad, status: 'pending', dueAt: inMs(4_000), endedAt: null },
  { before: 2, outcome: bad, status: 'dropped', dueAt: null, endedAt: AT },
])('after $before attempts, $outcome.responseStatus makes it $status', ({ before, outcome, ...then }) => {
  expect(afterAttempt({ attempts: before }, outcome)).toEqual({ ...then, attempts: before + 1 })
})

test('an attempt without any answer counts like a bad one', () => {
  const silent = { at: AT, responseStatus: null, failure: 'There was no answer within 5 seconds' }
  expect(afterAttempt({ attempts: 0 }, silent)).toEqual(afterAttempt({ attempts: 0 }, bad))
})
