import { once } from 'node:events'
import { LIMITS } from '@market/contract/limits'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Reply, someAddress } from '../support/client.ts'
import { deep } from '../support/hostile-values.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { connectFrom, exchange, statusesIn } from '../support/raw-socket.ts'
import { rejected } from '../support/rejected.ts'
import { until } from '../support/until.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket({ REQUESTS_PER_SECOND: '3', CONNECTIONS_PER_ADDRESS: '5' })
})
afterAll(() => market.stop())

const register = (body: unknown) => market.client().post('/api/agents/register', body)

describe('a body', () => {
  test('of 257 KB returns 413 (asvs V4.1)', async () => {
    const reply = await register(JSON.stringify({ name: 'x'.repeat(257 * 1024) }))
    expect(reply.status).toBe(413)
    expect(reply.body).toMatchObject({ success: false, request_id: reply.headers.get('x-request-id') })
  })

  test('of 255 KB is read, and its unknown field returns 400', async () => {
    expect((await register({ name: 'x'.repeat(255 * 1024) })).status).toBe(400)
  })

  test('may be nested 32 levels deep, but not 33 (asvs V4.1)', async () => {
    const nested = (levels: number) => register(JSON.stringify(deep(levels)))
    const fits = await nested(32)
    expect([fits.status, fits.body.code]).toEqual([400, 'invalid_input'])
    const tooDeep = await nested(33)
    expect([tooDeep.status, tooDeep.body.error]).toEqual([
      400,
      'The JSON body is nested too deeply. At most 32 levels are allowed.',
    ])
  })

  test('may have 1,000 keys, but not 1,001; colons in strings do not count (asvs V4.1)', async () => {
    const keyed = (count: number) =>
      register(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, ':"{:'])))
    const fits = await keyed(1_000)
    expect([fits.status, fits.body.code]).toEqual([400, 'invalid_input'])
    const tooMany = await keyed(1_001)
    expect([tooMany.status, tooMany.body.code, tooMany.body.error]).toEqual([
      400,
      'too_many_keys',
      'The JSON body has too many keys. At most 1000 are allowed.',
    ])
  })

  test.each([
    '{"__proto__":{"verified":1}}',
    '{"\\u005f_proto__":{"verified":1}}',
    '{"constructor":{"prototype":{"verified":1}}}',
    `{"name":"${'A'.repeat(5)}","description":"${DESCRIPTION}","x":{"__proto__":{"a":1}}}`,
  ])('does not change a prototype: %s', async (body) => {
    expect((await register(body)).status).toBe(400)
    expect('verified' in {}).toBe(false)
  })

  test.each(['{', '', 'null', '[]', '"a"', '1', '{"name":1e309}', '\ufeff{}', '{"a":1}{"b":2}'])(
    'that is not an object is rejected: %j',
    async (body) => {
      const reply = await register(body)
      expect(reply.status).toBe(400)
      expect(reply.body.success).toBe(false)
    },
  )
})

describe('headers', () => {
  test('of 20 KB return 431 in the error envelope, and the connection is closed', async () => {
    const received = await exchange(
      market.url,
      `GET /api/models HTTP/1.1\r\nHost: market.test\r\nX-Long: ${'a'.repeat(20 * 1024)}\r\n\r\n`,
    )
    expect(statusesIn(received)).toEqual([431])
    expect(received).toContain('Connection: close')
    const body = received.slice(received.indexOf('\r\n\r\n') + 4)
    expect(JSON.parse(body)).toMatchObject({ success: false, code: 'headers_too_large' })
  })
})

describe('requests of one address', () => {
  const PER_WINDOW = 30

  test('of any kind count, and return 429 above the limit; other addresses are served', async () => {
    const from = someAddress()
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
    const kinds: readonly (readonly [method: string, path: string, headers?: Record<string, string>])[] = [
      ['GET', '/api/nothing'],
      ['GET', '/healthz'],
      ['GET', '/docs'],
      ['GET', '/llms.txt'],
      ['GET', '/%'],
      ['OPTIONS', '/api/agents', preflight],
    ]
    const ask = ([method, path, headers]: (typeof kinds)[number], address = from) =>
      fetch(`${market.url}${path}`, { method, headers: { 'x-forwarded-for': address, ...headers } })
    // The first request of a page draws it, which can take as long as the window.
    for (const kind of kinds) await ask(kind, someAddress())
    for (let n = 0; n < PER_WINDOW / kinds.length; n++)
      for (const kind of kinds) expect((await ask(kind)).status).toBeLessThan(429)
    for (const kind of kinds) {
      const reply = await ask(kind)
      expect([kind[1], reply.status]).toEqual([kind[1], 429])
      expect(await reply.json()).toMatchObject({
        success: false,
        code: 'rate_limited',
        request_id: reply.headers.get('x-request-id'),
      })
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(reply.headers.get('x-ratelimit-limit')).toBe(String(PER_WINDOW))
      expect(reply.headers.get('x-ratelimit-remaining')).toBe('0')
      expect(Number(reply.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000 - 1)
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('access-control-allow-origin')).toBe(kind[2] === undefined ? null : '*')
    }
    expect((await ask(['GET', '/healthz'], someAddress())).status).toBe(200)
  })

  test('count for the /56 of an IPv6 client too, which has four times the limit', async () => {
    const WINDOW_MS = 10_000
    for (let network = 0; ; network++) {
      const started = performance.now()
      const addresses = Array.from({ length: 5 }, (_, n) => `2001:db8:a${network.toString(16)}:${n}::1`)
      const replies = await Promise.all(
        addresses.flatMap((from) =>
          Array.from({ length: PER_WINDOW }, () => market.client().get('/healthz', { from })),
        ),
      )
      // On a slow machine the window may end before the last request; then another network is tried.
      if (performance.now() > started + WINDOW_MS) continue
      expect(replies.filter(({ status }) => status === 429)).toHaveLength(PER_WINDOW)
      break
    }
  })
})

describe('connections', () => {
  const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: market.test\r\n\r\n'

  test.each([HEALTH, 'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'])(
    'with 17 requests at once are closed without a response: %j',
    async (request) => {
      expect(await exchange(market.url, request.repeat(17), { from: '127.0.0.2' })).toBe('')
    },
  )

  test('with 16 requests at once get all responses', async () => {
    const received = await exchange(market.url, HEALTH.repeat(16), { from: '127.0.0.3', quietMs: 2_000 })
    expect(statusesIn(received)).toEqual(Array(16).fill(200))
  })

  test('of one address: the sixth returns 429 and is closed, until one of the others ends', async () => {
    const from = '127.0.0.4'
    const open = Array.from({ length: 5 }, () => connectFrom(from, market.url))
    try {
      await Promise.all(open.map((socket) => once(socket, 'connect')))
      const sixth = await exchange(market.url, HEALTH, { from })
      expect(statusesIn(sixth)).toEqual([429])
      expect(sixth).toContain('too_many_connections')
      expect(sixth).toMatch(/^Retry-After: 1\r$/m)
      expect(sixth).toMatch(/^X-RateLimit-Limit: 5\r$/m)
      expect(sixth).toMatch(/^X-RateLimit-Remaining: 0\r$/m)
      expect(sixth).toMatch(/^X-RateLimit-Reset: \d{10}\r$/m)
      // Trusted proxies open connections for many clients.
      expect(statusesIn(await exchange(market.url, HEALTH, { quietMs: 500 }))).toEqual([200])
      open[0]?.destroy()
      await until('a connection is free', async () =>
        statusesIn(await exchange(market.url, HEALTH, { from, quietMs: 500 })).includes(200),
      )
    } finally {
      for (const socket of open) socket.destroy()
    }
  })
})

describe('client address of the rate limits', () => {
  const limit = LIMITS['agents.register'].max
  const registerFrom = (client: ReturnType<Market['client']>, from: string) =>
    client.post('/api/agents/register', { name: someName(), description: DESCRIPTION }, { from })

  test('is the socket’s address when the peer is not a trusted proxy, whatever X-Forwarded-For contains', async () => {
    const direct = await startMarket({ TRUSTED_PROXIES: '' })
    try {
      const statuses: number[] = []
      for (let n = 0; n <= limit; n++)
        statuses.push((await registerFrom(direct.client(), `203.0.113.${n}`)).status)
      expect(statuses).toEqual([...Array.from({ length: limit }, () => 201), 429])
    } finally {
      await direct.stop()
    }
  })

  test('is the last address that a trusted proxy added, not what the client sent before it', async () => {
    const statuses: number[] = []
    for (let n = 0; n <= limit; n++) {
      statuses.push((await registerFrom(market.client(), `10.9.8.${n}, 198.18.0.9`)).status)
    }
    expect(statuses.at(-1)).toBe(429)
  })

  test('is the /64 of an IPv6 client', async () => {
    for (let n = 0; n < limit; n++) {
      expect((await registerFrom(market.client(), `2001:db8:1:2::${n + 1}`)).status).toBe(201)
    }
    expect((await registerFrom(market.client(), '2001:db8:1:2:ffff::1')).status).toBe(429)
    expect((await registerFrom(market.client(), '2001:db8:1:3::1')).status).toBe(201)
  })

  /** Rejected with 400, but counted. */
  const attempt = (from: string) => market.client().post('/api/agents/register', { surplus: true }, { from })
  const fromEach = async (addresses: readonly string[]) => {
    const replies = []
    for (const address of addresses) replies.push(await attempt(address))
    return replies
  }
  const counted = (replies: readonly { status: number }[]) =>
    replies.filter(({ status }) => status === 400).length
  const networks = (count: number, address: (n: string) => string) =>
    Array.from({ length: count }, (_, n) => address(n.toString(16)))

  test('of a registration is also the /56 and the /48 of an IPv6 client', async () => {
    const of56 = await fromEach(networks(24, (n) => `2001:db8:5:${n}::1`))
    expect(counted(of56)).toBe(20)
    expect(of56.at(-1)?.headers.get('x-ratelimit-limit')).toBe('20')
    rejected(of56.at(-1) as Reply, 429, 'rate_limited')
    expect(counted(await fromEach(networks(70, (n) => `2001:db8:6:${n}00::1`)))).toBe(60)
    expect(counted([await attempt('2001:db8:7::1')])).toBe(1)
  })

  test('of every other limit is the same: 20 services an hour, 80 of a /56', async () => {
    const attempts = networks(5, (n) => `2001:db8:9:${n}::1`).flatMap((from) => Array(20).fill(from))
    const replies = []
    for (const from of attempts)
      replies.push(await market.client().post('/api/agents/me/services', { surplus: true }, { from }))
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(20)
    expect(replies.at(-1)?.headers.get('x-ratelimit-limit')).toBe('80')
  })

  test('of a registration: rejected calls of one /64 leave the calls of its /56', async () => {
    expect(counted(await fromEach(Array(25).fill('2001:db8:8:1::1')))).toBe(limit)
    expect(counted(await fromEach(Array(limit).fill('2001:db8:8:2::1')))).toBe(limit)
  })

  test('is the same for IPv4 and for the IPv4-mapped IPv6 address', async () => {
    for (let n = 0; n < limit; n++)
      expect((await registerFrom(market.client(), '198.18.7.7')).status).toBe(201)
    expect((await registerFrom(market.client(), '::ffff:198.18.7.7')).status).toBe(429)
  })
})

test('408: a body that does not arrive within 15 seconds after its headers (asvs V4.1)', async () => {
  const head =
    'POST /api/agents/register HTTP/1.1\r\nHost: market.test\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
  const received = await exchange(market.url, head, { quietMs: 120_000 })
  expect(received).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s)
})
