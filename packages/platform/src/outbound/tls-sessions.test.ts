import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { tlsSessions } from './tls-sessions.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const session = () => ({ ticket: Buffer.from('ticket'), verifiedAt: performance.now() })

test('TLS sessions: a session is used for ten minutes after its certificate was checked', () => {
  const sessions = tlsSessions()
  sessions.save('hook.example:443', session())
  vi.advanceTimersByTime(10 * 60_000 - 1)
  expect(sessions.find('hook.example:443')).toBeDefined()
  vi.advanceTimersByTime(1)
  expect(sessions.find('hook.example:443')).toBeUndefined()
})

test('TLS sessions: a session belongs to one host and port', () => {
  const sessions = tlsSessions()
  sessions.save('hook.example:443', session())
  expect(sessions.find('other.example:443')).toBeUndefined()
  expect(sessions.find('hook.example:8443')).toBeUndefined()
})

test('TLS sessions: at most 1,000 are stored, and the oldest is dropped', () => {
  const sessions = tlsSessions()
  for (let n = 0; n <= 1_000; n++) sessions.save(`h${n}.example:443`, session())
  expect(sessions.find('h0.example:443')).toBeUndefined()
  expect(sessions.find('h1.example:443')).toBeDefined()
})
