import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Parts, startParts } from '../support/parts.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { percentile, until } from '../support/until.ts'

const SLOW = 500
const GOOD = 600
const AT_ONCE = 8

let parts: Parts
let api: ServerProcess
beforeAll(async () => {
  parts = await startParts()
  api = await startApi(parts.environment)
})
afterAll(async () => {
  await api.stop()
  await parts.stop()
})

/** Sends the headers of a request one byte a second, and never gets to their end. */
function drip(port: number): {
  socket: Socket
  answer: () => string
  hasEnded: () => boolean
  stop: () => void
} {
  const socket = connect({ host: '127.0.0.1', port })
  const text = `GET /api/agents HTTP/1.1\r\nHost: market.test\r\nX-Slow: ${'x'.repeat(1_000)}`
  let sent = 0
  let answer = ''
  let ended = false
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('close', () => {
    ended = true
    clearInterval(timer)
  })
  socket.write(text[sent++] ?? '')
  const timer = setInterval(() => socket.write(text[sent++] ?? 'x'), 1_000)
  const stop = () => {
    clearInterval(timer)
    socket.destroy()
  }
  return { socket, answer: () => answer, hasEnded: () => ended, stop }
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
afterAll(() => agent.destroy())

function timedGet(path: string): Promise<{ status: number; ms: number }> {
  const at = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': `198.18.${Math.trunc(Math.random() * 250)}.9` }
    get(`${api.url}${path}`, { agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - at }))
    }).on('error', reject)
  })
}

test('500 clients that send one byte per second do not slow other requests and are disconnected', async () => {
  const slow = Array.from({ length: SLOW }, () => drip(api.port))
  try {
    await until('all of them are connected', () => slow.every(({ socket }) => socket.readyState === 'open'))
    const times: number[] = []
    const oneAfterAnother = async () => {
      for (let at = 0; at < GOOD / AT_ONCE; at++) {
        const { status, ms } = await timedGet('/api/agents?limit=5')
        expect(status).toBe(200)
        times.push(ms)
        // Spread over the seconds in which the slow ones drip.
        await wait(50)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, oneAfterAnother))
    expect(times.length).toBeGreaterThanOrEqual(500)
    expect(percentile(times, 0.99)).toBeLessThanOrEqual(300)

    await until('every slow connection was ended', () => slow.every(({ hasEnded }) => hasEnded()), {
      withinMs: 15_000,
    })
    const told = slow.filter(({ answer }) => answer().startsWith('HTTP/1.1 408 '))
    expect(told).toHaveLength(SLOW)
    expect(JSON.parse(slow[0]?.answer().split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'request_timeout',
    })
  } finally {
    for (const { stop } of slow) stop()
  }
})
