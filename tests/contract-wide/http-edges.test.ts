import { globSync } from 'node:fs'
import { type Operation, routesOf } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'
import { readOpenApi } from '../support/openapi-oracle.ts'
import { requestOf } from '../support/operation-request.ts'
import { exchange } from '../support/raw-socket.ts'
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
  test('has the cache header of the contract, and the security headers on success and error (asvs V3.1)', async () => {
    const input = plainInput(operation, resourcesOf(world, operation))
    const { method, path, body } = requestOf(operation, input)
    const principal = acceptedPrincipal(operation)
    const insider = await credentialOf(world, principal, operation, input)
    const asked = { ...(body && { body }) }
    const answers = [
      await market.client().send(method, path, { ...asked, ...insider }),
      await market.client().send(method, path, { ...asked, bearer: 'not a token' }),
      await market.client().send(method, path, { ...asked, bearer: 'adm_wrong' }),
    ]
    expect(isServed(operation, answers[0]?.status ?? 0)).toBe(true)
    const { cacheSeconds } = operation
    const isShared = cacheSeconds !== undefined && principal === 'anonymous'
    for (const { headers } of answers.slice(isShared ? 1 : 0)) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('etag')).toBeNull()
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expectSecurityHeaders(headers)
    }
    if (cacheSeconds === undefined) return
    const { status, headers } = await market.client().send(method, path)
    const kept = [`public, max-age=0, s-maxage=${cacheSeconds}`, false]
    expect([headers.get('cache-control'), headers.has('x-request-id')]).toEqual(
      status === 200 ? kept : ['no-store', true],
    )
    expect(headers.has('etag')).toBe(status === 200)
    expectSecurityHeaders(headers)
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
  ['GET', '/docs/guides/nothing'],
  ['GET', '/docs/guides/..%2Fcontract%2Ferrors'],
  ['GET', '/docs/assets/scalar.js'],
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

test('a request that is not HTTP returns 400 bad_request', async () => {
  const received = await exchange(market.url, 'this is not HTTP\r\n\r\n')
  expect(received).toMatch(/^HTTP\/1\.1 400 /)
  expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4))).toMatchObject({ code: 'bad_request' })
})

/** The event stream is not an operation, but it is described. */
const STREAM = 'streamEvents GET /api/events/stream'

/** The script that copies code is a file of this origin; nothing in the page itself runs. */
const expectOwnScriptOnly = (html: string): void =>
  expect(html.replace('<script src="/docs/assets/copy.js" defer></script>', '')).not.toMatch(
    /<script|\son\w+=/i,
  )

describe('pages that are not operations', () => {
  test('/healthz and /readyz return 200 when the process can serve requests', async () => {
    const health = await fetch(`${market.url}/healthz`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
    const ready = await fetch(`${market.url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }])
  })

  test('/metrics: counts requests by operation for a local reader, and returns 404 through a proxy (asvs V13.2)', async () => {
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

  test('/docs: the content security policy allows scripts and requests of this origin only (asvs V3.2)', async () => {
    const page = await fetch(`${market.url}/docs`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; ")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
    expectSecurityHeaders(page.headers)
    const html = await page.text()
    expect(
      [...html.matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="([^"]+)"/g)].every(([, to = '']) =>
        to.startsWith('/'),
      ),
    ).toBe(true)
    expect(html).not.toMatch(/\son\w+=/i)
  })

  test('/docs: the script has a hash in its name and is stored by clients, compressed where they accept it', async () => {
    const page = await (await fetch(`${market.url}/docs`)).text()
    const [path = ''] = /\/docs\/assets\/scalar-[0-9a-f]{16}\.js/.exec(page) ?? []
    const script = (encoding: string) =>
      fetch(`${market.url}${path}`, { headers: { 'accept-encoding': encoding } })
    const plain = await script('gzip;q=0')
    expect(plain.status).toBe(200)
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('content-encoding')).toBeNull()
    const compressed = await script('gzip, br')
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding')
    expect(await compressed.text()).toBe(await plain.text())
  })

  test('/: returns a page, or links as JSON to a client that accepts only JSON', async () => {
    const page = await fetch(market.url, { headers: { accept: 'text/html,application/json' } })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self';.* trusted-types 'none'/,
    )
    expectSecurityHeaders(page.headers)
    const html = await page.text()
    expectOwnScriptOnly(html)
    expect(html).toContain(`${BASE_URL}/api/x402/mcp`)
    const links = await fetch(market.url, { headers: { accept: 'application/json' } })
    expect(links.headers.get('vary')).toBe('Accept')
    expect(await links.json()).toMatchObject({
      success: true,
      data: { name: 'Agent Market', links: { reference: `${BASE_URL}/docs` } },
    })
  })

  test('/docs/guides and /docs/contract: every file of the folders is a page with the script of the copy buttons only, and every link of it works (asvs V3.2)', async () => {
    const files = globSync('{guides,contract}/*.md', { cwd: 'docs' })
    expect(files.length).toBeGreaterThan(20)
    const paths = [
      '/',
      '/docs/guides',
      ...files.map((file) => `/docs/${file.replace(/(\/README)?\.md$/, '')}`),
    ]
    const pages = new Map<string, string>()
    for (const path of paths) {
      const page = await fetch(`${market.url}${path}`)
      expect([path, page.status]).toEqual([path, 200])
      pages.set(path, await page.text())
    }
    const broken: string[] = []
    for (const [path, html] of pages) {
      expectOwnScriptOnly(html)
      for (const [, href = ''] of html.matchAll(/href="([^"]+)"/g)) {
        if (/^https?:|^mailto:/.test(href)) continue
        const [target = '', anchor] = href.split('#')
        const known = pages.get(target === '' ? path : target)
        const status = known === undefined ? (await fetch(`${market.url}${target}`)).status : 200
        if (status !== 200 || (anchor && known && !known.includes(`id="${anchor}"`)))
          broken.push(`${path}: ${href}`)
      }
    }
    expect(broken).toEqual([])
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
