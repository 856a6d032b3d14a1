import { request } from 'node:http'
import { startOrigin } from '@market/dev/web'
import type { RenderPage } from '@market/web/page'
import { buildServer } from '@market/web/server'
import { expect, test } from 'vitest'

/** The server of the pages: what is stored, shared and logged. */

const CONFIG = {
  ...{ host: '127.0.0.1', port: 0, apiUrl: 'http://127.0.0.1:1', site: 'https://market.example' },
  ...{ filesUrl: undefined, solanaNode: undefined, operator: {}, trustedProxies: ['127.0.0.1'] },
}
const ASSETS = { script: '/a.js', styles: [], modules: [], fonts: [] }
const OK = { status: 200, html: 'page', isComplete: true }

function serverOf(draw: (path: string, count: number) => Promise<typeof OK>, freshMs = 30_000) {
  const paths: string[] = []
  const lines: string[] = []
  const render: RenderPage = ({ path }) => draw(path, paths.push(path))
  const log = { write: (line: string) => void lines.push(line) }
  const server = buildServer(CONFIG, { render, assets: ASSETS, files: new Map(), freshMs, log })
  return { server, paths, lines, get: (url: string) => server.inject({ url }) }
}

const SECRET = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }

test('a visitor who waited for a failed draw draws again, and only the good page is shared', async () => {
  const { get, paths } = serverOf(async (_path, count) => (count === 1 ? { ...OK, status: 503 } : OK))
  const both = await Promise.all([get('/fees'), get('/fees')])
  expect(both.map(({ statusCode }) => statusCode)).toEqual([503, 200])
  expect((await get('/fees')).statusCode).toBe(200)
  expect(paths).toHaveLength(2)
})

test('an old page is sent when the new one cannot be drawn', async () => {
  const { get } = serverOf(async (_path, count) => (count === 1 ? OK : { ...OK, status: 503 }), 2_000)
  await get('/fees')
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  expect((await get('/fees')).statusCode).toBe(200)
})

test('an incomplete page is not stored', async () => {
  const { get, paths } = serverOf(async () => ({ ...OK, isComplete: false }))
  expect((await get('/fees')).headers['cache-control']).toBe('no-store')
  await get('/fees')
  expect(paths).toHaveLength(2)
})

test.each(['/o/ord_1?t=token', '/O/ord_1?t=token', '/%6f/ord_1?t=token', '/fees?t=token'])(
  '%s is not stored by anyone',
  async (url) => {
    const { get, paths } = serverOf(async () => OK)
    expect((await get(url)).headers).toMatchObject(SECRET)
    await get(url)
    expect(paths).toHaveLength(2)
  },
)

test('an error while drawing: neither response nor log has the token', async () => {
  const { get, lines } = serverOf(async (path) => Promise.reject(new Error(path)))
  const response = await get('/o/ord_1?t=token-of-it')
  expect(response.headers).toMatchObject({ ...SECRET, 'x-content-type-options': 'nosniff' })
  expect(lines).toHaveLength(1)
  expect(response.body + lines.join('')).not.toContain('token-of-it')
})

test('unknown parameters and addresses without a page do not fill the store', async () => {
  const { get, paths } = serverOf(async () => OK)
  for (const url of ['/terms', '/terms?x=1', '/none', '/none/2?y=1', '/agents?cursor=b&search=a&x=1'])
    await get(url)
  expect(paths).toEqual(['/terms', '/no-page', '/agents?search=a&cursor=b'])
})

test('one address cannot draw more than 8 pages at once', async () => {
  const { get } = serverOf(() => new Promise((resolve) => setTimeout(resolve, 500, OK)))
  const all = await Promise.all(Array.from({ length: 9 }, (_, page) => get(`/a/${page}`)))
  expect(all.filter(({ statusCode }) => statusCode === 503)).toHaveLength(1)
})

test.each([
  '/',
  '/nowhere',
  '/healthz',
  '/robots.txt',
  '/sitemap.xml',
  '/o/ord_1?t=token',
  `/${'x'.repeat(1_001)}`,
  '/%zz',
])('%s: has the security headers of every page (asvs V3.1)', async (url) => {
  const { headers } = await serverOf(async () => OK).get(url)
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; script-src 'self'; .*trusted-types 'none'$/,
    ),
    'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
    'x-content-type-options': 'nosniff',
    'referrer-policy': expect.any(String),
    'cross-origin-opener-policy': 'same-origin',
  })
})

test('the origin of the local stack sends a path that names a host nowhere', async () => {
  const origin = await startOrigin({ port: 0, apiUrl: CONFIG.apiUrl, pagesUrl: CONFIG.apiUrl })
  const status = await new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin.url)
    const sent = request({ hostname, port, path: '//evil.example/x' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
  origin.stop()
  expect(status).toBe(400)
})
