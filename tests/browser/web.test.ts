import { globSync, readFileSync } from 'node:fs'
import { gzipSync, inflateSync } from 'node:zlib'
import { readAssetFiles, readAssets } from '@market/web/assets'
import { Pictures } from '@market/web/pictures/pictures'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { makeService } from '../support/services.ts'
import { hydrated, isFocused, moving, overflow, tabTo, violations } from './page-checks.ts'
import { honestWorld, LIES, nodeResult, SOLANA_RESERVES } from './proof-world.ts'
import { BUILD, NODE, PAGE_NAMES, startWebPages, type WebPages, WORKER } from './web-pages.ts'

/** The pages for people in a real browser; `web-modes.test.ts` shows them in all sizes and schemes. */

let web: WebPages
beforeAll(async () => {
  web = await startWebPages()
})
afterAll(() => web?.stop())

/** A small dark page and a large light one; the gauntlet shows all four. */
const MODES = [
  [360, 'dark'],
  [1_280, 'light'],
] as const

test.concurrent.each(PAGE_NAMES)(
  '%s: no error, no policy violation, no script of a user, no overflow, no motion and no violation of axe (asvs V1.2)',
  async (name) => {
    const [path, awaited] = web.all[name]
    const { page, problems } = await web.shown(path)
    await page.locator(awaited).first().waitFor()
    if (name === 'shop') expect(await moving(page)).not.toEqual([])
    for (const [width, colorScheme] of MODES) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect({ width, overflow: await overflow(page) }).toEqual({ width, overflow: 0 })
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] })
    }
    expect(await moving(page)).toEqual([])
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
  },
)

test('search as you type: results and address follow, and a service opens without loading the page again', async () => {
  const { page, problems } = await web.shown('/')
  await page.evaluate('window.isSamePage = true')
  const field = page.getByRole('searchbox', { name: 'Search services' })
  await field.fill('statistics')
  await page.waitForURL(/search=statistics/)
  await page.locator('li.service').filter({ hasText: '<img' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Statistics of a text' }).first().click()
  await page.waitForURL(`${web.origin.url}/s/${web.agent}/statistics-of-a-text`)
  await page.locator('.tabs label', { hasText: 'Python' }).click()
  expect(await page.locator('.p-python pre').innerText()).toContain(
    'https://market.example/api/x402/pay?service_id=svc_',
  )
  expect(await page.evaluate('window.isSamePage')).toBe(true)
  expect(problems).toEqual([])
  await page.close()
})

test('proof in the browser: what a changed leaf, sum, root, memo or signer is worth', async () => {
  // The clock belongs to the context.
  const own = await web.newContext()
  const { page, problems } = await web.shown('/fees', own)
  let world = honestWorld()
  const send = (data: unknown, more = {}) => ({ json: { success: true, data, ...more } })
  await page.route('**/api/solvency/anchors*', (route) =>
    route.fulfill(send([world.anchor], { next_cursor: null })),
  )
  await page.route('**/api/solvency/history*', (route) => route.fulfill(send([])))
  await page.route('**/api/solvency', (route) => route.fulfill(send([SOLANA_RESERVES])))
  await page.route(NODE, (route) => {
    const { method } = route.request().postDataJSON() as { method: string }
    const json = { jsonrpc: '2.0', id: 1, result: nodeResult(method, world.memo) }
    return route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } })
  })
  await page.evaluate('window.isSamePage = true')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.clock.install()
  const verdicts: (readonly [string, string | null])[] = []
  for (const [what, , tamper, known] of LIES) {
    world = tamper(honestWorld())
    // What was read before is too old, so that the browser reads what the API says now.
    await page.clock.fastForward(60_000)
    const read = page.waitForResponse('**/api/solvency/anchors*')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Solvency' }).click()
    await read
    await page.getByLabel('Treasury address on Solana').fill(known)
    await page.locator('input[type=file]').setInputFiles({
      name: 'proof.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ success: true, data: [world.proof] })),
    })
    const result = page.locator('article[data-verdict]')
    await result.waitFor()
    verdicts.push([what, await result.getAttribute('data-verdict')])
    await page.locator('footer').getByRole('link', { name: 'Fees' }).click()
    await page.locator('h1:has-text("Fees")').waitFor()
  }
  expect(verdicts).toEqual(LIES.map(([what, verdict]) => [what, verdict]))
  expect(await page.evaluate('window.isSamePage')).toBe(true)
  expect(problems).toEqual([])
  await own.close()
})

test('a page that was stored for minutes takes over as it was drawn, and reads its data again afterwards', async () => {
  const own = await web.newContext()
  const page = await own.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.clock.install({ time: Date.now() + 100_000 })
  const read: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/api\/(?:services|platform-stats|metrics|config|solvency)/.test(pathname)) read.push(pathname)
  })
  await page.goto(`${web.origin.url}/`)
  await hydrated(page)
  expect(read).toEqual([])
  const again = page.waitForRequest('**/api/metrics/activity*')
  await page.clock.fastForward(7_000)
  await again
  expect(problems).toEqual([])
  await own.close()
})

test('a file that is not a proof is refused with a sentence', async () => {
  const { page } = await web.shown('/solvency')
  await page.locator('input[type=file]').setInputFiles({
    name: 'x.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"data":[{}]}'),
  })
  await page.getByText('This file is not a saved response of GET /api/solvency/proof.').waitFor()
  await page.close()
})

test('the address of a purchase is a credential: it is not stored, sent elsewhere or listed', async () => {
  const response = await fetch(web.origin.url + web.purchase)
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  })
  expect((await fetch(`${web.origin.url}${web.purchase}x`)).status).toBe(404)
  expect(await (await fetch(`${web.origin.url}/robots.txt`)).text()).toContain('Disallow: /o/')
})

test('orders are drawn for everybody: without data or an id, not stored and not listed', async () => {
  const get = (path: string) => fetch(web.origin.url + path, { headers: { accept: 'text/html' } })
  const [one, other] = [await get('/orders/ord_1'), await get('/orders/ord_2')]
  expect([one.status, other.status]).toEqual([200, 200])
  expect(Object.fromEntries(one.headers)).toMatchObject({
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex',
  })
  const text = await one.text()
  expect(text).toBe(await other.text())
  expect(text).toContain('What is yours is shown by JavaScript')
  expect(await (await get('/robots.txt')).text()).toContain('Disallow: /orders')
})

test('the sitemap lists the pages, the agents and the services, and is stored', async () => {
  const of = async (server: typeof web.pages) => (await server.inject('/sitemap.xml')).body
  const text = await of(web.drawnOnce)
  expect(text).toContain(`<loc>https://market.example/s/${web.agent}/statistics-of-a-text</loc>`)
  expect(text).toContain('<loc>https://market.example/solvency</loc>')
  expect(text).not.toContain('/o/')
  const seller = await makeOwnedAgent(web.market)
  await makeService(web.market, seller)
  expect(await of(web.drawnOnce)).toBe(text)
  expect(await of(web.alwaysDrawn)).toContain(`/a/${seller.slug}<`)
})

test('the keyboard alone at 360 px: menu, filters, sort, tabs, copy buttons and files', async () => {
  const own = await web.newContext()
  await own.grantPermissions(['clipboard-read', 'clipboard-write'])
  const { page, problems } = await web.shown('/', own)
  const press = (key: string) => page.keyboard.press(key)
  await press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await tabTo(page, '.menu-btn')
  await press('Enter')
  await tabTo(page, '#menu a[href="/agents"]')
  await press('Escape')
  expect(await page.locator('#menu').isVisible()).toBe(false)
  expect(await isFocused(page, '.menu-btn')).toBe(true)
  await tabTo(page, '.filters-btn')
  await press('Enter')
  await tabTo(page, '#filters input[name=max_price]')
  await page.keyboard.type('0.6')
  await page.waitForURL(/max_price=0.6/)
  await tabTo(page, '#filters input[name=price_type]')
  await press('ArrowDown')
  await page.waitForURL(/price_type=fixed/)
  await press('Escape')
  expect(await page.locator('#filters').isVisible()).toBe(false)
  expect(await isFocused(page, '.filters-btn')).toBe(true)
  // Whoever goes on after the last field of the sheet is on the page, which is no longer behind it.
  await press('Enter')
  await tabTo(page, 'select[name=sort]')
  expect(await page.locator('#filters').isVisible()).toBe(false)
  await press('ArrowDown')
  await page.waitForURL(/sort=/)
  await tabTo(page, 'li.service a[href$="statistics-of-a-text"]')
  await press('Enter')
  await page.waitForURL(/statistics-of-a-text/)
  await tabTo(page, 'input[name=hire]')
  await press('ArrowRight')
  await tabTo(page, '.p-sdk button')
  await press('Enter')
  await page.getByText('Copied').waitFor({ state: 'attached' })
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('market.hire(')
  await tabTo(page, '.hire-bar a')
  await press('Enter')
  await page.waitForURL(/#hire$/)
  await page.evaluate('document.activeElement.blur(); getSelection().collapse(document.body, 0)')
  await tabTo(page, '.menu-btn')
  await press('Enter')
  await tabTo(page, '#menu a[href="/solvency"]')
  await press('Enter')
  await page.waitForURL(/solvency$/)
  expect(await page.locator('#menu').isVisible()).toBe(false)
  await tabTo(page, '#check input[type=file]')
  const chooser = page.waitForEvent('filechooser')
  await press('Space')
  await chooser
  expect(problems).toEqual([])
  await own.close()
})

test('without script: filters are a form, and title, price, text and description are shown', async () => {
  const withoutScript = await web.browser.newContext({ javaScriptEnabled: false })
  const page = await withoutScript.newPage()
  await page.goto(`${web.origin.url}/?search=statistics`)
  await page.getByRole('link', { name: 'Statistics of a text' }).first().click()
  await page.waitForURL(`${web.origin.url}/s/${web.agent}/statistics-of-a-text`)
  const text = await page.locator('main').innerText()
  expect(text).toContain('0.50 USDC')
  expect(text).toContain('No reviews yet')
  expect(await page.title()).toBe('Statistics of a text by Text Counter · Agent Market')
  const facts = await page.locator('script[type="application/ld+json"]').textContent()
  expect(JSON.parse(facts ?? '')).toMatchObject({ '@type': 'Service', offers: { price: '0.50' } })
  await withoutScript.close()
})

test('a page says the same to its owner, to another user and to nobody', async () => {
  const owner = await makeUser(web.market, { wallets: [web.ownerWallet] })
  const other = await makeUser(web.market)
  for (const path of ['/', `/a/${web.agent}`, `/s/${web.agent}/statistics-of-a-text`, '/solvency']) {
    const of = async (headers: Record<string, string>) =>
      (await web.alwaysDrawn.inject({ url: path, headers })).headers['etag']
    const nobody = await of({})
    for (const { token } of [owner, other]) {
      const etag = await of({ cookie: `idp-token=${token}`, authorization: `Bearer ${token}` })
      expect({ path, etag }).toEqual({ path, etag: nobody })
    }
  }
})

test('a stored page is 304 while it is unchanged, and allows no inline script', async () => {
  const get = (headers: Record<string, string>) => web.drawnOnce.inject({ url: '/fees', headers })
  const { headers } = await get({})
  expect(headers['cache-control']).toBe('public, max-age=30')
  expect((await get({ 'if-none-match': String(headers.etag) })).statusCode).toBe(304)
  expect(headers['content-security-policy']).toContain("trusted-types 'none'")
})

test('a page that is drawn again keeps its ETag while it says the same', async () => {
  const first = await web.alwaysDrawn.inject('/fees')
  const etag = String(first.headers['etag'])
  const again = await web.alwaysDrawn.inject({ url: '/fees', headers: { 'if-none-match': etag } })
  expect([first.statusCode, again.statusCode]).toEqual([200, 304])
  const other = await web.alwaysDrawn.inject({ url: '/terms', headers: { 'if-none-match': etag } })
  expect(other.statusCode).toBe(200)
})

/** The size of a PNG whose rows are all there. */
function sizeOf(png: Buffer): readonly [width: number, height: number] {
  expect(png.toString('latin1', 1, 4)).toBe('PNG')
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  // Four bytes for each point, and one before each row.
  expect(inflateSync(Buffer.concat(parts))).toHaveLength(height * (1 + 4 * width))
  return [width, height]
}

test('link previews: shop, service, agent and bounty name a picture of 1200 × 630', async () => {
  const pictures = [
    ['/', '/picture'],
    [`/s/${web.agent}/statistics-of-a-text`, `/picture/s/${web.agent}/statistics-of-a-text`],
    [`/s/${web.agent}/${web.hostileService}`, `/picture/s/${web.agent}/${web.hostileService}`],
    [`/a/${web.agent}`, `/picture/a/${web.agent}`],
    [`/b/${web.bounty}`, `/picture/b/${web.bounty}`],
  ] as const
  for (const [path, picture] of pictures) {
    const page = (await web.pages.inject(path)).body
    expect(page).toContain(`<meta property="og:image" content="https://market.example${picture}"/>`)
    expect(page).toContain('<meta name="twitter:card" content="summary_large_image"/>')
    const { headers, rawPayload } = await web.pages.inject(picture)
    expect({ picture, type: headers['content-type'], size: sizeOf(rawPayload) }).toEqual({
      picture,
      type: 'image/png',
      size: [1_200, 630],
    })
    const known = { 'if-none-match': String(headers.etag) }
    expect((await web.pages.inject({ url: picture, headers: known })).statusCode).toBe(304)
  }
  expect((await web.pages.inject('/picture/a/none')).statusCode).toBe(404)
})

test('pictures: equal facts are drawn once, and an address gets a limited number of new ones in a minute', async () => {
  const drawn = new Pictures(WORKER, { newOfVisitor: 2, waiting: 8 })
  const facts = (title: string) => ({ title, otherTitle: 'A service', figures: [] })
  const get = (title: string, address = '203.0.113.1') => drawn.get(facts(title), address)
  const [first, again] = [await get('One'), await get('One')]
  expect(first).toBe(again)
  expect(await get('x'.repeat(3_000))).toBeDefined()
  expect(await get('Three')).toBeUndefined()
  expect(await get('One')).toBe(first)
  expect(await get('Three', '203.0.113.2')).toBeDefined()
  await drawn.stop()
})

test('pictures: what waits is limited, and a thread that ended starts again', async () => {
  const drawn = new Pictures(WORKER, { newOfVisitor: 30, waiting: 1 })
  const get = (title: string) => drawn.get({ title, otherTitle: '', figures: [] }, '203.0.113.1')
  const [one, two] = await Promise.allSettled([get('One'), get('Two')])
  expect([one.status, two]).toEqual(['fulfilled', { status: 'fulfilled', value: undefined }])
  const ended = get('Three').catch((error: Error) => error.message)
  await drawn.stop()
  expect(await ended).toBe('The thread of the pictures has ended.')
  expect(await get('Three')).toBeDefined()
  await drawn.stop()
})

test('a page, an agent or a service that does not exist is 404 in the same look', async () => {
  for (const path of ['/nothing', '/looks', '/a/none', `/s/${web.agent}/none`, '/b/bnty_1']) {
    const response = await fetch(web.origin.url + path)
    expect({ path, status: response.status }).toEqual({ path, status: 404 })
    expect(await response.text()).toContain('This page does not exist')
  }
})

test('a service that is not among the newest 50 of its agent has its page too', async () => {
  const seller = await makeOwnedAgent(web.market)
  const oldest = await makeService(web.market, seller, { title: 'The oldest of many services' })
  for (let count = 0; count < 50; count++) await makeService(web.market, seller)
  const response = await fetch(`${web.origin.url}/s/${seller.slug}/${oldest.slug}`)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('The oldest of many services')
})

test('the address of the visitor reaches the limits of the API', async () => {
  const remaining = async (address: string) => {
    const response = await fetch(`${web.origin.url}/api/me`, {
      headers: { 'x-forwarded-for': address },
    })
    return Number(response.headers.get('x-ratelimit-remaining'))
  }
  const visit = (address: string, page: number) =>
    fetch(`${web.origin.url}/agents?search=word${page}`, { headers: { 'x-forwarded-for': address } })
  const before = await remaining('203.0.113.7')
  await Promise.all(Array.from({ length: 5 }, (_, page) => visit('203.0.113.8', page)))
  expect(await remaining('203.0.113.7')).toBe(before - 1)
  expect(await remaining('203.0.113.8')).toBeLessThan(before - 1)
})

test('visitors of one IPv6 network share the limits of the API, also when they ask for pages', async () => {
  const get = (path: string, address: string) =>
    fetch(web.origin.url + path, { headers: { 'x-forwarded-for': address } })
  const remaining = async (address: string) =>
    Number((await get('/api/me', address)).headers.get('x-ratelimit-remaining'))
  const before = await remaining('2001:db8:7:1::1')
  await Promise.all(
    Array.from({ length: 5 }, (_, page) => get(`/agents?search=term${page}`, `2001:db8:7:1::${page + 2}`)),
  )
  expect(await remaining('2001:db8:7:1::7')).toBeLessThan(before - 5)
  expect(await remaining('2001:db8:7:2::1')).toBe(before)
})

test('sizes: a build has no story page; what the first page loads is at most 120 KB of script, 14 KB of styles and 55 KB of fonts, with a route 160 KB, compressed', () => {
  const folder = `${BUILD}client`
  const { script, modules, styles, fonts } = readAssets(folder)
  const chunks = readAssetFiles(folder)
  const size = (path: string) => gzipSync(readFileSync(folder + path), { level: 9 }).length
  const sum = (paths: readonly string[]) => paths.reduce((total, path) => total + size(path), 0)
  expect(sum([script, ...modules]) / 1_024).toBeLessThan(120)
  expect(sum(styles) / 1_024).toBeLessThan(14)
  expect(sum(fonts) / 1_024).toBeLessThan(55)
  // The story page is for the development server.
  const built = globSync('**/*.js', { cwd: BUILD }).map((path) => readFileSync(BUILD + path, 'utf8'))
  expect(built.filter((code) => code.includes('Every part in every state'))).toEqual([])
  const first = new Set([script, ...modules])
  const lazy = [...chunks.keys()].filter((path) => path.endsWith('.js') && !first.has(path))
  for (const chunk of lazy)
    expect({ chunk, size: (sum([...first]) + size(chunk)) / 1_024 < 160 }).toEqual({ chunk, size: true })
})
