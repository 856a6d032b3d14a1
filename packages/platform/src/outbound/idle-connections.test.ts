import { PassThrough } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Connection, idleConnections } from './idle-connections.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const ADDRESS = '93.184.216.34'
const connection = (server = 'hook.example:443'): Connection => {
  const secure = Object.assign(new PassThrough(), { ref: () => {}, unref: () => {} })
  return { secure: secure as unknown as TLSSocket, server, address: ADDRESS, openedAt: performance.now() }
}

test('idle connections: one is used once at a time', () => {
  const idle = idleConnections()
  const open = connection()
  idle.put(open, 1_000)
  expect(idle.take(open.server, [ADDRESS])).toBe(open)
  expect(idle.take(open.server, [ADDRESS])).toBeUndefined()
})

test('idle connections: one is closed when its idle time is over', () => {
  const idle = idleConnections()
  const open = connection()
  idle.put(open, 1_000)
  vi.advanceTimersByTime(1_000)
  expect([open.secure.destroyed, idle.take(open.server, [ADDRESS])]).toEqual([true, undefined])
})

test('idle connections: one that receives data without a request is closed', async () => {
  const idle = idleConnections()
  const open = connection()
  idle.put(open, 1_000)
  open.secure.write('HTTP/1.1 200 OK\r\n\r\n')
  await new Promise(setImmediate)
  expect([open.secure.destroyed, idle.take(open.server, [ADDRESS])]).toEqual([true, undefined])
})

test('idle connections: one that is older than a minute is closed after its request', () => {
  const idle = idleConnections()
  const open = connection()
  vi.advanceTimersByTime(60_001)
  idle.put(open, 1_000)
  expect([open.secure.destroyed, idle.take(open.server, [ADDRESS])]).toEqual([true, undefined])
})

test('idle connections: at most 1,024 are open, and the one that was idle longest is closed', () => {
  const idle = idleConnections()
  const all = Array.from({ length: 1_025 }, (_, n) => connection(`h${n}.example:443`))
  for (const open of all) idle.put(open, 1_000)
  expect(all.filter(({ secure }) => secure.destroyed)).toEqual([all[0]])
})
