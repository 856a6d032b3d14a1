import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { MarketError } from './errors.ts'
import { Market } from './market.ts'

/** A real server that fails as servers and networks do. */

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Sends the answers one after the other; the last one again and again. */
async function startServer(...answers: readonly Answer[]) {
  const requests: IncomingMessage[] = []
  const times: number[] = []
  const server = createServer((request, response) => {
    times.push(performance.now())
    requests.push(request)
    request.resume()
    request.on('end', () => answers[Math.min(requests.length, answers.length) - 1]?.(response, request))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, times }
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body))
const ok = json(200, { success: true, data: { id: 'agt_1' } })
const busy = (seconds: string) =>
  json(429, { success: false, code: 'rate_limited', error: 'Slow down.' }, { 'retry-after': seconds })
const cut: Answer = (response) => void response.destroy()
const half: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"success"')
  setTimeout(() => response.destroy(), 20)
}
const silent: Answer = () => undefined

const failureOf = (promise: Promise<unknown>): Promise<MarketError> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error) => error as MarketError,
  )

describe('a request', () => {
  test('is sent again after 503, 502, a cut connection and half a response, with the same Idempotency-Key', async () => {
    const { url, requests } = await startServer(
      json(503, {}, { 'retry-after': '0' }),
      json(502, {}),
      cut,
      half,
      ok,
    )
    const market = new Market({ apiUrl: url, apiKey: 'market_x' })
    expect(await market.updateMyAgent({ description: 'New' })).toEqual({ id: 'agt_1' })
    expect(requests).toHaveLength(5)
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect([new Set(keys).size, typeof keys[0]]).toEqual([1, 'string'])
  })

  test('waits for Retry-After of a 429', async () => {
    const { url, times } = await startServer(busy('1'), ok)
    await new Market({ apiUrl: url, apiKey: 'market_x' }).getMyAgent()
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990)
  })

  test('is not repeated when Retry-After is longer than maxWaitSeconds; the error has the time', async () => {
    const { url, requests } = await startServer(busy('61'))
    const error = await failureOf(new Market({ apiUrl: url }).browseServices())
    expect(error).toMatchObject({ status: 429, code: 'rate_limited', retryAfterSeconds: 61 })
    expect(requests).toHaveLength(1)
  })

  test('is sent once more than retries says, then throws the last error', async () => {
    const { url, requests } = await startServer(
      json(503, { code: 'unavailable', error: 'Later.' }, { 'retry-after': '0' }),
    )
    expect(await failureOf(new Market({ apiUrl: url, retries: 2 }).browseServices())).toMatchObject({
      status: 503,
    })
    expect(requests).toHaveLength(3)
  })

  test.each([400, 401, 403, 404, 422])('is not repeated after %i', async (status) => {
    const { url, requests } = await startServer(
      json(status, { code: 'x', error: 'No.', request_id: 'req_1' }),
    )
    const error = await failureOf(new Market({ apiUrl: url }).browseServices())
    expect(error).toBeInstanceOf(MarketError)
    expect(error).toMatchObject({ status, code: 'x', message: 'No.', requestId: 'req_1' })
    expect(requests).toHaveLength(1)
  })

  test('without a response in time is a timeout', async () => {
    const { url } = await startServer(silent)
    const market = new Market({ apiUrl: url, timeoutMs: 50, retries: 0 })
    expect(await failureOf(market.browseServices())).toMatchObject({ status: 0, code: 'timeout' })
  })

  test('does not follow a redirect, so that no other server gets the credential', async () => {
    const other = await startServer(ok)
    const { url } = await startServer(
      (response) => void response.writeHead(302, { location: other.url }).end(),
    )
    const market = new Market({ apiUrl: url, apiKey: 'market_secret', retries: 0 })
    const error = await failureOf(market.getMyAgent())
    expect(error.code).toBe('unreachable')
    expect(other.requests).toEqual([])
    expect(JSON.stringify([error, error.message, String(error.cause)])).not.toContain('market_secret')
  })

  test('ends with the reason of its signal, also while it waits', async () => {
    const { url } = await startServer(busy('30'))
    const stop = new AbortController()
    const reading = new Market({ apiUrl: url }).browseServices({}, { signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 50)
    await expect(reading).rejects.toThrow('enough')
  })

  test('that gets a page instead of JSON says so', async () => {
    const { url } = await startServer((response) => void response.writeHead(200).end('<html>'))
    const error = await failureOf(new Market({ apiUrl: url }).browseServices())
    expect(error).toMatchObject({ code: 'bad_response', message: expect.stringContaining('Check apiUrl') })
  })
})

describe('new Market', () => {
  test.each([
    [{ apiUrl: '' }, /apiUrl is missing/],
    [{ apiUrl: 'http://api.example' }, /must begin with https/],
    [{ apiUrl: 'https://api.example/v1' }, /without a path/],
    [{ apiUrl: 'https://api.example', apiKey: 'market_x', token: 'y' }, /Pass one of/],
  ])('rejects %j', (options, message) => {
    expect(() => new Market(options)).toThrow(message)
  })
})
