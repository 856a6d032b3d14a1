import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { evmWallet, Market, newestCursor, type SellerEvent } from '@market/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market as RunningMarket, startMarket } from '../support/market.ts'
import { makeService } from '../support/services.ts'
import { BASE_URL } from '../support/settings.ts'
import { until } from '../support/until.ts'

let running: RunningMarket
let buyer: Market
beforeAll(async () => {
  running = await startMarket()
  const { token } = await makeUser(running)
  buyer = new Market({ apiUrl: running.url, token })
})
afterAll(() => running.stop())

/** A proxy of the event stream, of which the test cuts connections and rejects requests. */
async function startProxy(
  reject: (request: number) => readonly [status: number, retryAfter: string] | undefined = () => undefined,
) {
  const open = new Set<ServerResponse>()
  const paths: string[] = []
  const signatures: unknown[] = []
  const server: Server = createServer(async (request, response) => {
    const isStream = request.url?.startsWith('/api/events/stream') === true
    if (isStream) {
      open.add(response)
      paths.push(request.url ?? '')
      signatures.push(request.headers['x-market-wallet-sig'])
      const rejected = reject(paths.length)
      if (rejected !== undefined)
        return void response
          .writeHead(rejected[0], { 'retry-after': rejected[1] })
          .end('{"code":"unavailable","error":"Later."}')
    }
    const { host: _, connection: __, ...headers } = request.headers
    const ended = new AbortController()
    response.on('close', () => ended.abort())
    const reply = await fetch(`${running.url}${request.url}`, {
      headers: headers as Record<string, string>,
      signal: ended.signal,
    }).catch(() => undefined)
    // The connection was cut before the API responded.
    if (reply === undefined) return void response.destroy()
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' })
    response.flushHeaders()
    if (reply.body)
      Readable.fromWeb(reply.body as never)
        .on('error', () => undefined)
        .pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    signatures,
    cut: () => {
      for (const response of open) response.destroy()
      open.clear()
    },
  }
}

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

async function newSeller() {
  const agent = await makeOwnedAgent(running)
  const { id } = await makeService(running, agent)
  let orders = 0
  return { ...agent, order: () => buyer.createOrder({ service_id: id, brief: `Order ${++orders}, please.` }) }
}

/** Collects events in the background until the test ends. */
function collect(market: Market, options: { after?: string } = {}) {
  const events: SellerEvent[] = []
  const stop = new AbortController()
  const reading = (async () => {
    for await (const event of market.events({ ...options, signal: stop.signal })) events.push(event)
  })()
  return {
    events,
    count: (count: number) => until(`${count} events`, () => events.length >= count, { withinMs: 60_000 }),
    stop: async () => {
      stop.abort()
      await reading
    },
  }
}

test('events: gives each event once, although the connection is cut after every one', async () => {
  const seller = await newSeller()
  const proxy = await startProxy()
  const collected = collect(new Market({ apiUrl: proxy.url, apiKey: seller.apiKey }))
  for (let count = 1; count <= 4; count++) {
    await seller.order()
    await collected.count(count)
    proxy.cut()
  }
  await collected.stop()
  expect(collected.events.map(({ cursor }) => cursor)).toEqual(['1', '2', '3', '4'])
  expect(collected.events[0]).toMatchObject({ event: 'order.created', data: { brief: 'Order 1, please.' } })
  expect(proxy.paths.length).toBeGreaterThanOrEqual(4)
  expect(proxy.paths.at(-1)).toMatch(/after=[34]/)
})

test('events: begins after the cursor that is passed', async () => {
  const seller = await newSeller()
  for (let count = 0; count < 3; count++) await seller.order()
  const collected = collect(new Market({ apiUrl: running.url, apiKey: seller.apiKey }), { after: '2' })
  await collected.count(1)
  await collected.stop()
  expect(collected.events.map(({ cursor }) => cursor)).toEqual(['3'])
})

test('events: continues where the API says when its database lost the cursor', async () => {
  const seller = await newSeller()
  await seller.order()
  const market = new Market({ apiUrl: running.url, apiKey: seller.apiKey })
  const collected = collect(market, { after: '57' })
  await running.db
    .updateTable('event_counters')
    .set({ database_epoch: 'an earlier one' })
    .where('agent_id', '=', seller.id)
    .execute()
  await seller.order()
  await collected.count(1)
  await collected.stop()
  expect(collected.events[0]).toMatchObject({ data: { brief: 'Order 2, please.' } })
  expect(await newestCursor(market)).toBe(collected.events[0]?.cursor)
})

test('events: waits for Retry-After of 429 and 503, then goes on', async () => {
  const seller = await newSeller()
  await seller.order()
  const proxy = await startProxy((request) =>
    request === 1 ? [429, '1'] : request === 2 ? [503, '0'] : undefined,
  )
  const began = performance.now()
  const collected = collect(new Market({ apiUrl: proxy.url, apiKey: seller.apiKey }))
  await collected.count(1)
  await collected.stop()
  expect(performance.now() - began).toBeGreaterThan(990)
  expect(proxy.paths).toHaveLength(3)
})

test('events: throws when the credential is wrong instead of trying for ever', async () => {
  const market = new Market({ apiUrl: running.url, apiKey: 'market_wrong' })
  await expect(market.events().next()).rejects.toMatchObject({ status: 401 })
})

test('events: ends when the signal is aborted before and while it reads', async () => {
  const seller = await newSeller()
  const market = new Market({ apiUrl: running.url, apiKey: seller.apiKey })
  expect(await market.events({ signal: AbortSignal.abort() }).next()).toEqual({
    done: true,
    value: undefined,
  })
  const collected = collect(market)
  await seller.order()
  await collected.count(1)
  await collected.stop()
  expect(collected.events).toHaveLength(1)
})

test('events: a wallet that buys signs a new session for every connection', async () => {
  const seller = await newSeller()
  const wallet = evmWallet(privateKeyToAccount(generatePrivateKey()))
  const proxy = await startProxy()
  const market = new Market({ apiUrl: proxy.url, site: BASE_URL, wallet })
  const stop = new AbortController()
  const stream = market.events({ role: 'buyer', signal: stop.signal })
  const first = stream.next()
  await until('it is connected', () => proxy.signatures.length === 1)
  proxy.cut()
  await until('it is connected again', () => proxy.signatures.length === 2, { withinMs: 60_000 })
  stop.abort()
  expect(await first).toEqual({ done: true, value: undefined })
  expect(new Set(proxy.signatures).size).toBe(2)
  expect(seller.id).toMatch(/^agt_/)
})
