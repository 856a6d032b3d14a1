import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { usdc } from '@market/kernel/money'
import { beforeEach, expect, test } from 'vitest'
import { httpSwapVenue } from './http-swap-venue.ts'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const SOL = 'So11111111111111111111111111111111111111112'
const TIMEOUT_MS = 60_000
const REQUEST = { taker: 'taker', amount: usdc(5_000_000n), slippageBps: 50 }

let requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[]
let respond: RequestListener
let url: string
beforeEach(async () => {
  requests = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ultra/v1`
  return async () => {
    server.closeAllConnections()
    server.close()
  }
})

const json =
  (body: unknown, status = 200): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const open = (more: Partial<Parameters<typeof httpSwapVenue>[0]> = {}) =>
  httpSwapVenue({ url, usdc: USDC, orderTimeoutMs: TIMEOUT_MS, executeTimeoutMs: TIMEOUT_MS, ...more })

const AWAY = { kind: 'unavailable', extra: { code: 'swap_unavailable' } }

test('order: asks for the fixed pair with the API key, and reads what it needs', async () => {
  respond = json({ requestId: 'quote-1', transaction: 'AAAA', outAmount: '33333333', router: 'rfq' })
  expect(await open({ apiKey: 'key-1' }).order(REQUEST)).toEqual({
    requestId: 'quote-1',
    transaction: 'AAAA',
    outLamports: 33_333_333n,
  })
  const [asked] = requests
  expect([asked?.method, asked?.headers['x-api-key']]).toEqual(['GET', 'key-1'])
  const { pathname, searchParams } = new URL(asked?.path ?? '', url)
  expect(pathname).toBe('/ultra/v1/order')
  expect(Object.fromEntries(searchParams)).toEqual({
    inputMint: USDC,
    outputMint: SOL,
    amount: '5000000',
    taker: 'taker',
    slippageBps: '50',
  })
})

test('order: is undefined when the venue rejects the request or has no transaction', async () => {
  for (const status of [400, 404, 409, 422]) {
    respond = json({}, status)
    expect(await open().order(REQUEST)).toBeUndefined()
  }
  respond = json({ requestId: 'quote-1', transaction: null, outAmount: '1' })
  expect(await open().order(REQUEST)).toBeUndefined()
})

test('order: other errors, redirects, timeouts and malformed or long responses are unavailable', async () => {
  const good = { requestId: 'quote-1', transaction: 'AAAA', outAmount: '1' }
  const wrong: RequestListener[] = [
    ...[401, 403, 429, 500, 503].map((status) => json({}, status)),
    ...[null, [], {}, { ...good, requestId: '' }, { ...good, requestId: 'a\u0000' }].map((body) =>
      json(body),
    ),
    ...['0', '-1', '01', '1.5', 'x', '1'.repeat(19), 5].map((outAmount) => json({ ...good, outAmount })),
    json({ ...good, transaction: 'A'.repeat(2_001) }),
    json({ ...good, padding: 'x'.repeat(65_536) }),
    (_, response) => response.end('{'),
    (_, response) => response.destroy(),
    (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
  ]
  for (const listener of wrong) {
    respond = listener
    await expect(open().order(REQUEST)).rejects.toMatchObject(AWAY)
  }
  respond = () => {}
  await expect(open({ orderTimeoutMs: 1 }).order(REQUEST)).rejects.toMatchObject(AWAY)
})

test('execute: posts the signed transaction and returns what the venue claims', async () => {
  const submission = { requestId: 'quote-1', signedTransaction: 'AAAA' }
  for (const [status, claimed] of [
    ['Success', 'success'],
    ['Failed', 'failed'],
  ]) {
    respond = json({ status, signature: 'any', code: 0 })
    expect(await open().execute(submission)).toBe(claimed)
  }
  const [first] = requests
  expect(first).toMatchObject({ method: 'POST', path: '/ultra/v1/execute' })
  expect(first?.headers['content-type']).toBe('application/json')
  expect(first?.headers['x-api-key']).toBeUndefined()
  expect(JSON.parse(first?.body ?? '')).toEqual(submission)
  for (const listener of [json({}), json({ status: 'success' }), json({}, 400), json({}, 500)]) {
    respond = listener
    await expect(open().execute(submission)).rejects.toMatchObject(AWAY)
  }
})
