import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { httpPrices } from './http-prices.ts'

const SOL = 'So11111111111111111111111111111111111111112'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const TIMEOUT_MS = 60_000
const STALE_MS = 600_000

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const mintOf = (n: number) =>
  `${'A'.repeat(30)}${[...String(n).padStart(4, '0')].map((digit) => ALPHABET[Number(digit)]).join('')}`

let asked: string[][]
let respond: RequestListener
let server: ReturnType<typeof createServer>
let url: string
/** Milliseconds; only the tests move it. */
let now: number
beforeEach(async () => {
  asked = []
  now = 1_000_000
  server = createServer((request, response) => {
    const mints = new URL(request.url ?? '', 'http://localhost').searchParams.get('mints') ?? ''
    asked.push(mints.split(','))
    respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices?mints={mints}`
  return async () => {
    server.closeAllConnections()
    if (server.listening) server.close()
  }
})
afterEach(() => {
  respond = () => {}
})

const json =
  (body: unknown): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  }

const open = (more: Partial<Parameters<typeof httpPrices>[0]> = {}) =>
  httpPrices({ url, timeoutMs: TIMEOUT_MS, staleMs: STALE_MS, clock: () => now, ...more })

const find = async (prices: ReturnType<typeof open>, ...mints: string[]) =>
  Object.fromEntries(await prices.findPrices(mints))

const AWAY = { kind: 'unavailable', message: expect.stringContaining('price source does not respond') }

test('findPrices: prices in full, and null for a mint that the source does not know', async () => {
  respond = json({ [SOL]: { usd: 1.5e-9, usd_market_cap: 123456.5 }, other: { usd: 1 } })
  expect(await find(open(), SOL, USDC)).toEqual({
    [SOL]: { priceUsd: '0.0000000015', marketCapUsd: '123456.50' },
    [USDC]: null,
  })
  expect(asked).toEqual([[SOL, USDC]])
})

test.each([
  ['a price in a string', { usd: '1.00', usd_market_cap: 1 }],
  ['a negative price', { usd: -1, usd_market_cap: 1 }],
  ['a price that is absurdly high', { usd: 1e300 }],
  ['a price that is absurdly low', { usd: 1e-300 }],
  ['no price', { usd_market_cap: 1 }],
  ['a price of null', { usd: null }],
  ['a list', [1, 2]],
  ['a number', 7],
  ['nothing', null],
])('findPrices: null for %s', async (_, entry) => {
  respond = json({ [SOL]: entry })
  expect(await find(open(), SOL)).toEqual({ [SOL]: null })
})

test.each([undefined, null, '5', -5, Number.NaN])(
  'findPrices: a market cap of %s is null, and the price counts',
  async (usd_market_cap) => {
    respond = json({ [SOL]: { usd: 2, usd_market_cap } })
    expect(await find(open(), SOL)).toEqual({ [SOL]: { priceUsd: '2.00', marketCapUsd: null } })
  },
)

const WRONG: readonly (readonly [string, RequestListener])[] = [
  ['a body that is not JSON', (_, response) => response.end('<html>')],
  ['NaN, which JSON does not have', (_, response) => response.end(`{"${SOL}":{"usd":NaN}}`)],
  ['a list', json([])],
  ['a text', json('prices')],
  ['a body of more than 1 MB', json({ [SOL]: { usd: 1 }, padding: 'x'.repeat(1_024 * 1_024) })],
  ['a status of 500', (_, response) => response.writeHead(500).end('{}')],
  ['a status of 404', (_, response) => response.writeHead(404).end('{}')],
  [
    'a redirect',
    (request, response) => {
      if (request.url?.startsWith('/prices') === true)
        return response.writeHead(302, { location: '/other?mints=' }).end()
      return response.end(JSON.stringify({ [SOL]: { usd: 1 } }))
    },
  ],
  ['a closed connection', (_, response) => response.destroy()],
  [
    'a body that ends early',
    (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{"a":')
      response.destroy()
    },
  ],
]

test.each(WRONG)('findPrices: a source that responds with %s is away', async (_, listener) => {
  respond = listener
  await expect(find(open(), SOL)).rejects.toMatchObject(AWAY)
  // A redirect is not followed.
  expect(asked).toHaveLength(1)
})

test('findPrices: a source that never responds, or never ends its body, is away after the timeout', async () => {
  for (const listener of [
    () => {},
    ((_, response) => void response.writeHead(200).write('{')) satisfies RequestListener,
  ]) {
    respond = listener
    await expect(find(open({ timeoutMs: 50 }), SOL)).rejects.toMatchObject(AWAY)
  }
})

test('findPrices: a source that nobody listens for is away', async () => {
  server.close()
  await once(server, 'close')
  await expect(find(open(), SOL)).rejects.toMatchObject(AWAY)
})

test('findPrices: a price is requested again after 30 seconds, also an unknown one', async () => {
  const prices = open()
  respond = json({ [SOL]: { usd: 1 } })
  await find(prices, SOL, USDC)
  now += 29_999
  respond = json({ [SOL]: { usd: 2 }, [USDC]: { usd: 1 } })
  expect(await find(prices, SOL, USDC)).toMatchObject({ [SOL]: { priceUsd: '1.00' }, [USDC]: null })
  expect(asked).toHaveLength(1)
  now += 1
  expect(await find(prices, SOL, USDC)).toMatchObject({
    [SOL]: { priceUsd: '2.00' },
    [USDC]: { priceUsd: '1.00' },
  })
})

test('findPrices: while the source is away, known prices are served until they are too old', async () => {
  const prices = open()
  respond = json({ [SOL]: { usd: 1 } })
  await find(prices, SOL)
  respond = (_, response) => response.writeHead(503).end()
  now += 31_000
  expect(await find(prices, SOL)).toMatchObject({ [SOL]: { priceUsd: '1.00' } })
  // One that is not known is not reported as unknown.
  await expect(find(prices, SOL, USDC)).rejects.toMatchObject(AWAY)
  now += STALE_MS - 31_001
  expect(await find(prices, SOL)).toMatchObject({ [SOL]: { priceUsd: '1.00' } })
  now += 1
  await expect(find(prices, SOL)).rejects.toMatchObject(AWAY)
})

test('findPrices: after a failure the source is left alone for two seconds, then asked again', async () => {
  const prices = open()
  respond = (_, response) => response.destroy()
  await expect(find(prices, SOL)).rejects.toMatchObject(AWAY)
  respond = json({ [SOL]: { usd: 1 } })
  now += 1_999
  await expect(find(prices, SOL)).rejects.toMatchObject(AWAY)
  expect(asked).toHaveLength(1)
  now += 1
  expect(await find(prices, SOL)).toMatchObject({ [SOL]: { priceUsd: '1.00' } })
})

test('findPrices: a request that the source rejects does not delay other mints', async () => {
  const prices = open()
  respond = (_, response) => response.writeHead(400).end('{}')
  await expect(find(prices, USDC)).rejects.toMatchObject(AWAY)
  respond = json({ [SOL]: { usd: 1 } })
  expect(await find(prices, SOL)).toMatchObject({ [SOL]: { priceUsd: '1.00' } })
})

test('findPrices: concurrent calls request a mint once', async () => {
  const prices = open()
  const waiting: (() => void)[] = []
  respond = (request, response) => {
    waiting.push(() => json({ [SOL]: { usd: 1 }, [USDC]: { usd: 1 } })(request, response))
    if (waiting.length === 2) for (const go of waiting) go()
  }
  const found = await Promise.all([find(prices, SOL), find(prices, SOL), find(prices, SOL, USDC)])
  expect(asked.toSorted()).toEqual([[USDC], [SOL]])
  expect(found).toMatchObject([{ [SOL]: {} }, { [SOL]: {} }, { [SOL]: {}, [USDC]: {} }])
})

test('findPrices: requests at most 50 mints at once, and each of many once', async () => {
  const mints = Array.from({ length: 100 }, (_, n) => mintOf(n))
  respond = (request, response) =>
    json(Object.fromEntries(mints.map((mint, n) => [mint, { usd: n }])))(request, response)
  const found = await open().findPrices(mints)
  expect([...found.keys()]).toEqual(mints)
  expect(found.get(mintOf(99))).toMatchObject({ priceUsd: '99.00' })
  expect(asked.map((batch) => batch.length)).toEqual([50, 50])
  expect(new Set(asked.flat()).size).toBe(100)
})

test('findPrices: at most 8 requests are under way; a call that would need more fails at once', async () => {
  const prices = open()
  const waiting: (() => void)[] = []
  respond = (request, response) => {
    waiting.push(() => json({})(request, response))
    if (waiting.length === 8) full()
  }
  let full = () => {}
  const isFull = new Promise<void>((resolve) => {
    full = resolve
  })
  const first = Array.from({ length: 8 }, (_, n) => find(prices, mintOf(n)))
  await isFull
  await expect(find(prices, mintOf(8))).rejects.toMatchObject(AWAY)
  for (const go of waiting) go()
  await Promise.all(first)
  expect(asked).toHaveLength(8)
})

test('findPrices: forgets the oldest mint when the cache is full', async () => {
  const prices = open({ maxEntries: 2 })
  respond = json({ [SOL]: { usd: 1 } })
  await find(prices, SOL)
  await find(prices, mintOf(1), mintOf(2))
  await find(prices, mintOf(1), mintOf(2))
  expect(asked).toHaveLength(2)
  await find(prices, SOL)
  expect(asked).toHaveLength(3)
})
