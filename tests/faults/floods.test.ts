import { randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { relayTo } from '../chains/node-relay.ts'
import { someAddress } from '../support/client.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, runBundled, startMarket } from '../support/market.ts'
import { startEvm } from '../support/market-chains.ts'
import { connectFrom } from '../support/raw-socket.ts'
import { makeService } from '../support/services.ts'
import { percentile, until } from '../support/until.ts'

/** One client does its worst, and the others notice nothing. The clients of 127.0.0.2 are not behind a trusted proxy. */

const ATTACKER = '127.0.0.2'
const P99_MS = 300
const MOST_MEMORY_MB = 200

const base = await startEvm('base-mainnet')
const node = await relayTo(base.chain.url)
let market: Market
let url: string
beforeAll(async () => {
  market = await startMarket({ ...base.settings, BASE_RPC_URLS: node.url }, { run: runBundled })
  url = market.url
  // Generated at the first request.
  await fetch(`${url}/docs`)
})
afterAll(async () => {
  await market.stop()
  await node.stop()
  await base.stop()
})

const agent = new Agent({ keepAlive: true, maxSockets: 4 })
afterAll(() => agent.destroy())

const timedHealth = (): Promise<number> => {
  const at = performance.now()
  return new Promise((resolve, reject) => {
    get(`${url}/healthz`, { agent, headers: { 'x-forwarded-for': someAddress() } }, (response) => {
      response.resume()
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(performance.now() - at)
          : reject(new Error(`${response.statusCode}`)),
      )
    }).on('error', reject)
  })
}

/** Asks for the health every 20 ms until the work is done, and for 3 s at least; returns the 99th percentile. */
async function p99During(work: () => Promise<unknown>): Promise<number> {
  await timedHealth()
  let isDone = false
  const began = performance.now()
  const working = work().finally(() => {
    isDone = true
  })
  const times: number[] = []
  while (!isDone || performance.now() - began < 3_000) {
    times.push(await timedHealth())
    await wait(20)
  }
  await working
  return Math.round(percentile(times, 0.99))
}

async function expectOthersServed(work: () => Promise<unknown>): Promise<void> {
  const calm = await p99During(async () => undefined)
  const flooded = await p99During(work)
  expect(flooded, `99th percentile in ms; without the flood it is ${calm}`).toBeLessThanOrEqual(P99_MS)
}

async function memoryMb(): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / 1_000_000
}

const PIPELINED = 'GET /docs HTTP/1.1\r\nHost: market.test\r\n\r\n'

/** Opens connections that send the bytes and, unless they read, leave every response in the socket. */
function openAll(count: number, bytes: string, reads: boolean) {
  const sockets = Array.from({ length: count }, (): Socket => {
    const socket = connectFrom(ATTACKER, url)
    socket.on('error', () => {})
    if (reads) socket.resume()
    socket.write(bytes)
    return socket
  })
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { sockets, close }
}

test.each([
  { connections: 5, requests: 1_000, reads: true },
  { connections: 40, requests: 3_000, reads: false },
])(
  'flood: $connections connections with $requests requests at once each are closed, and others are served',
  async ({ connections, requests, reads }) => {
    const before = await memoryMb()
    await expectOthersServed(async () => {
      const { sockets, close } = openAll(connections, PIPELINED.repeat(requests), reads)
      try {
        await until('all of them are closed', () => sockets.every(({ destroyed }) => destroyed), {
          withinMs: 20_000,
        })
      } finally {
        close()
      }
    })
    expect((await memoryMb()) - before).toBeLessThan(MOST_MEMORY_MB)
  },
  120_000,
)

test('flood: 40 connections that do not read their 16 responses are closed, and others are served', async () => {
  const before = await memoryMb()
  const { sockets, close } = openAll(40, PIPELINED.repeat(16), false)
  try {
    await expectOthersServed(() => wait(45_000))
    // Its end is behind the responses that were not read.
    for (const socket of sockets) socket.resume()
    await until('all of them have ended', () => sockets.every(({ destroyed }) => destroyed), {
      withinMs: 5_000,
    })
  } finally {
    close()
  }
  expect((await memoryMb()) - before).toBeLessThan(MOST_MEMORY_MB)
})

test('flood: connections above the limit of an address are rejected, and others are served', async () => {
  const { sockets, close } = openAll(300, '', true)
  try {
    await expectOthersServed(() =>
      until('200 of 300 are closed', () => sockets.filter(({ destroyed }) => destroyed).length === 200),
    )
  } finally {
    close()
  }
})

const BRIEF = { brief: 'Read the branch called blue.' }

test('flood: 60 invented payments at once cost at most 5 queries each, and others are served', async () => {
  const service = await makeService(market, await makeOwnedAgent(market), { price_usd: '10.00' })
  const path = `/api/x402/discover/${service.id}`
  const from = someAddress()
  const buy = (headers: Record<string, string> = {}) => {
    const payment = { 'x-payment': `0x${randomBytes(32).toString('hex')}` }
    return market.client().post(path, BRIEF, { from, headers: { ...payment, ...headers } })
  }
  const before = node.methods().length
  await expectOthersServed(async () => {
    const replies = await Promise.all(Array.from({ length: 60 }, () => buy()))
    expect(replies.map(({ status }) => status)).toEqual(Array(60).fill(402))
  })
  expect(node.methods().length - before).toBeLessThanOrEqual(5 * 60)

  // With the claim of a quote four of them are awaited, and the others are answered at once.
  const claim = (await market.client().get(path)).headers.get('x-market-payment-claim') ?? ''
  const began = performance.now()
  const times = await Promise.all(
    Array.from({ length: 20 }, async () => {
      expect((await buy({ 'x-payment-claim': claim })).status).toBe(402)
      return performance.now() - began
    }),
  )
  expect(times.filter((ms) => ms > 10_000)).toHaveLength(4)
})
