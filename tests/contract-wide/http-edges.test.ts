import { type Operation, routesOf } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'
import { readOpenApi } from '../support/openapi-oracle.ts'
import { requestOf } from '../support/operation-request.ts'
import { plainInput } from '../support/schema-arbitraries.ts'
import { APP_URL, BASE_URL } from '../support/settings.ts'
import { isServed } from '../support/valid-request.ts'
import { acceptedPrincipal, credentialOf, makeWorld, type World } from './authorization-fixture.ts'
import { resourcesOf } from './authorization-resources.ts'

let market: Market
let world: World
beforeAll(async () => {
  const settings = {
    SECURITY_CONTACT: 'mailto:security@market.test,https://market.test/report',
    SECURITY_TXT_EXPIRES: '2027-01-01T00:00:00Z',
  }
  market = await startMarket(settings, { chains: ['base-mainnet', 'solana-mainnet'] })
  world = await makeWorld(market)
})
afterAll(() => market.stop())

function expectSecurityHeaders(headers: Headers) {
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}/)
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('x-powered-by')).toBeNull()
  expect(headers.get('server')).toBeNull()
}

/** Further routes of an operation have their own ids. */
const describedRoutes = (operation: Operation): string[] =>
  routesOf(operation).map(({ id, method, path }, n) => {
    const operationId = n === 0 ? id : `${id}.${method.toLowerCase()}.${path}`
    return `${operationId} ${method} ${path}`
  })

describe.each(operationList)('$id', (operation) => {
  test('has the cache header of the contract, and the security headers on success and error', async () => {
    const input = plainInput(operation, resourcesOf(world, operation))
    const { method, path, body } = requestOf(operation, input)
    const insider = await credentialOf(world, acceptedPrincipal(operation), operation, input)
    const asked = { ...(body && { body }) }
    const answers = [
      await market.client().send(method, path, { ...asked, ...insider }),
      await market.client().send(method, path, { ...asked, bearer: 'not a token' }),
      await market.client().send(method, path, { ...asked, bearer: 'adm_wrong' }),
    ]
    expect(isServed(operation, answers[0]?.status ?? 0)).toBe(true)
    const { cacheSeconds } = operation
    for (const { status, headers } of answers) {
      const isCached = cacheSeconds !== undefined && status === 200
      expect(headers.get('cache-control')).toBe(isCached ? `public, max-age=${cacheSeconds}` : 'no-store')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expectSecurityHeaders(headers)
    }
  })

  test('CORS: any origin may call it without cookies, only our app with cookies', async () => {
    const { method, path } = requestOf(operation, plainInput(operation, resourcesOf(world, operation)))
    const preflight = (origin: string) =>
      fetch(`${market.url}${path}`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': 'authorization',
        },
      })
    for (const origin of ['https://anybody.example', 'null', `${APP_URL}.evil.example`]) {
      const { status, headers } = await preflight(origin)
      expect(status).toBe(204)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('access-control-allow-methods')).toContain(method)
      expect(headers.get('access-control-allow-headers')).toContain('Authorization')
    }
    const ours = await preflight(APP_URL)
    expect(ours.headers.get('access-control-allow-origin')).toBe(APP_URL)
    expect(ours.headers.get('access-control-allow-credentials')).toBe('true')
    expect(ours.headers.get('vary')).toBe('Origin')
    const plain = await market.client().send(method, path, { headers: { origin: 'https://anybody.example' } })
    expect(plain.headers.get('access-control-allow-origin')).toBe('*')
    expect(plain.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

test('GET /.well-known/security.txt: has the contacts and the expiry of the settings, as RFC 9116 says', async () => {
  const response = await fetch(`${market.url}/.well-known/security.txt`)
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expectSecurityHeaders(response.headers)
  expect((await response.text()).split('\n')).toEqual([
    'Contact: mailto:security@market.test',
    'Contact: https://market.test/report',
    'Expires: 2027-01-01T00:00:00.000Z',
    'Preferred-Languages: en',
    `Canonical: ${BASE_URL}/.well-known/security.txt`,
    '',
  ])
})

test.each([
  ['GET', '/api/nothing'],
  ['DELETE', '/api/agents'],
  ['GET', '/'],
  ['POST', '/docs'],
  ['GET', '/api/agents/a/b/c'],
  ['GET', '/.git/config'],
  ['GET', '/api/agents/%'],
  ['GET', '/api/agents/%ff'],
  ['GET', `/api/agents/${'a'.repeat(5_000)}`],
])('%s %s: returns the error envelope with the headers of every response', async (method, path) => {
  const { status, body, headers } = await market.client().send(method, path)
  expect([400, 404]).toContain(status)
  expect(body).toMatchObject({ success: false, error: expect.any(String), code: expect.any(String) })
  expect(body.request_id).toBe(headers.get('x-request-id'))
  expect(headers.get('cache-control')).toBe('no-store')
  expectSecurityHeaders(headers)
})

/** The event stream is not an operation, but it is described. */
const STREAM = 'streamEvents GET /api/events/stream'

describe('pages that are not operations', () => {
  test('/healthz and /readyz return 200 when the process can serve requests', async () => {
    const health = await fetch(`${market.url}/healthz`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
    const ready = await fetch(`${market.url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }])
  })

  test('/metrics: counts requests by operation for a local reader, and returns 404 through a proxy', async () => {
    await market.client().get('/api/models')
    const figures = await fetch(`${market.url}/metrics`)
    expect(figures.status).toBe(200)
    expect(await figures.text()).toMatch(/market_requests_total\{operation="listModels",status="200"\} \d+/)
    for (const header of ['x-forwarded-for', 'forwarded']) {
      const answer = await fetch(`${market.url}/metrics`, { headers: { [header]: '127.0.0.1' } })
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ success: false, code: 'no_such_route' })
    }
  })

  test('/docs: the content security policy allows only the page’s own style', async () => {
    const page = await fetch(`${market.url}/docs`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}';/,
    )
    expectSecurityHeaders(page.headers)
    const html = await page.text()
    expect(html).not.toMatch(/<script|<img|<link|\son\w+=/i)
    for (const { id } of operationList) expect(html).toContain(`id="${id}"`)
  })

  test('/api/openapi.json: describes every operation once, and every reference resolves', async () => {
    const description = await readOpenApi(market)
    expect(description.openapi).toMatch(/^3\.1\./)
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    )
    expect(described.sort()).toEqual([...operationList.flatMap(describedRoutes), STREAM].sort())
    const text = JSON.stringify(description)
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
    expect(references.length).toBeGreaterThan(0)
    for (const reference of new Set(references)) {
      const parts = reference.replace(/^#\//, '').split('/')
      const target = parts.reduce<unknown>(
        (at, part) => (at as Record<string, unknown> | undefined)?.[part],
        description,
      )
      expect({ reference, found: target !== undefined }).toEqual({ reference, found: true })
    }
    expect(text).toContain(BASE_URL)
  })
})
