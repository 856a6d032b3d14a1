import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { startOrigin } from '@market/dev/web'
import { HOUR } from '@market/kernel/clock'
import { anchorText, type LiabilityProof, type ReserveAnchor, rootBy } from '@market/solvency'
import { readAssetFiles, readAssets } from '@market/web/assets'
import type { RenderPage } from '@market/web/page'
import { buildServer } from '@market/web/server'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBounty } from '../support/bounties.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makePurchasedOrder } from '../support/purchased-order.ts'
import { makeService } from '../support/services.ts'

/** The pages for people in a real browser. Screenshots are in .cache/screenshots. */

const SCREENSHOTS = '.cache/screenshots'
const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')
const BUILD = fileURLToPath(new URL('../../apps/web/dist/', import.meta.url))
/** Every text that a user writes, at its worst: markup, one long word, right-to-left, emoji. */
const HOSTILE = `<img src=x onerror="window.ran=1"></script><script>window.ran=1</script> שלום 🐟${'x'.repeat(600)}`

/** A Solana node that the pages may ask; each test says what it returns. */
const NODE = 'http://node.example/rpc'

let market: Market
let browser: Browser
let origin: Awaited<ReturnType<typeof startOrigin>>
let pages: ReturnType<typeof buildServer>
/** Draws a page for every request. */
let alwaysDrawn: ReturnType<typeof buildServer>
/** Draws a page once. */
let drawnOnce: ReturnType<typeof buildServer>
let hostileService: string
let agent: string
let purchase: string
let bounty: string

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await promisify(execFile)('npm', ['run', '--silent', 'build:web'])
  market = await startMarket({ TRUSTED_PROXIES: '127.0.0.1' })
  const seller = await makeOwnedAgent(market, { name: 'Text Analyst', description: HOSTILE.slice(0, 500) })
  agent = seller.slug
  const statistics = await makeService(market, seller, {
    title: 'Statistics of a text',
    price_usd: '0.50',
    category: 'analytics',
  })
  const hostile = await makeService(market, seller, {
    title: HOSTILE.slice(0, 80),
    description: HOSTILE,
    category: 'coding',
    deliverables: [HOSTILE.slice(0, 120)],
    requirement_fields: [{ label: HOSTILE.slice(0, 80), type: 'text', required: true }],
  })
  hostileService = hostile.slug
  const bought = await makePurchasedOrder(market, statistics)
  purchase = `/o/${bought.id}?t=${bought.accessToken}`
  bounty = (await makeBounty(market, { title: HOSTILE.slice(0, 100), brief: HOSTILE })).id
  const { renderPage } = (await import(pathToFileURL(`${BUILD}server/entry-server.js`).href)) as {
    renderPage: RenderPage
  }
  const folder = `${BUILD}client`
  const config = {
    host: '127.0.0.1',
    port: 0,
    apiUrl: market.url,
    site: 'https://market.example',
    filesUrl: undefined,
    solanaNode: NODE,
    operator: { terms: '# Terms\n\nPay what you order.' },
    trustedProxies: ['127.0.0.1'],
  }
  const parts = { render: renderPage, assets: readAssets(folder), files: readAssetFiles(folder) }
  pages = buildServer(config, parts)
  alwaysDrawn = buildServer(config, { ...parts, freshMs: 0 })
  drawnOnce = buildServer(config, { ...parts, freshMs: 1 * HOUR })
  const pagesUrl = await pages.listen({ host: '127.0.0.1', port: 0 })
  origin = await startOrigin({ port: 0, apiUrl: market.url, pagesUrl })
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
})
afterAll(async () => {
  await browser?.close()
  origin?.stop()
  await pages?.close()
  await alwaysDrawn?.close()
  await drawnOnce?.close()
  await market?.stop()
})

const shown = async (url: string) => {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' })
  // A busy machine makes pages slower, and must not make the test fail.
  context.setDefaultTimeout(150_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
  )
  await page.goto(origin.url + url)
  return { page, problems }
}

/** What a reader waits for, on each page. */
const PAGES = (): readonly (readonly [name: string, path: string, awaited: string])[] => [
  ['shop', '/', 'text=Statistics of a text'],
  ['service', `/s/${agent}/statistics-of-a-text`, 'h1:has-text("Statistics of a text")'],
  ['hostile-service', `/s/${agent}/${hostileService}`, 'h2:has-text("The agent asks")'],
  ['agent', `/a/${agent}`, 'h1:has-text("Text Analyst")'],
  ['agents', '/agents', 'text=Text Analyst'],
  ['bounties', '/bounties', 'h1:has-text("Bounties")'],
  ['activity', '/activity', 'h1:has-text("Activity")'],
  ['solvency', '/solvency', 'h1:has-text("Every network holds what it owes")'],
  ['fees', '/fees', 'h1:has-text("Fees")'],
  ['status', '/status', 'h1:has-text("Everything works")'],
  ['terms', '/terms', 'text=Pay what you order.'],
  ['privacy', '/privacy', 'text=has published no privacy here'],
  ['purchase', purchase, 'h2:has-text("You ordered")'],
  ['bounty', `/b/${bounty}`, 'h1:has-text("<img")'],
]

const NAMES = [
  'shop',
  'service',
  'hostile-service',
  'agent',
  'agents',
  'bounties',
  'activity',
  'solvency',
  'fees',
  'status',
  'terms',
  'privacy',
  'purchase',
  'bounty',
] as const

const MODES = [
  [360, 'dark'],
  [360, 'light'],
  [1_280, 'dark'],
  [1_280, 'light'],
] as const

test('every page is looked at', () => expect(PAGES().map(([name]) => name)).toEqual([...NAMES]))

async function violations(page: Page): Promise<string[]> {
  const results = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as AxeResults
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
  )
}

test.each(NAMES)(
  '%s: no error, no policy violation, no script of a user, no overflow, no violation of axe (asvs V1.2)',
  async (name) => {
    const [, path, awaited] = PAGES().find(([one]) => one === name) ?? ['', '', '']
    const { page, problems } = await shown(path)
    await page.locator(awaited).first().waitFor()
    await page.evaluate(AXE)
    for (const [width, colorScheme] of MODES) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({
        path: `${SCREENSHOTS}/web-${name}-${width}-${colorScheme}.png`,
        fullPage: true,
      })
      const overflow = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number
      expect({ width, overflow: Math.max(0, overflow) }).toEqual({ width, overflow: 0 })
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] })
    }
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(problems).toEqual([])
    await page.context().close()
  },
)

/** Before this, a page is a document without script. */
const isHydrated = (field: Locator) =>
  field.evaluate((element) => Object.keys(element).some((key) => key.startsWith('__reactProps')))

test('search as you type: results and address follow, and a service opens without loading the page again', async () => {
  const { page, problems } = await shown('/')
  await page.evaluate('window.isSamePage = true')
  const field = page.getByRole('searchbox', { name: 'Search services' })
  await expect.poll(() => isHydrated(field), { timeout: 150_000 }).toBe(true)
  await field.fill('statistics')
  await page.waitForURL(/search=statistics/)
  await page.locator('li.service').filter({ hasText: '<img' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Statistics of a text' }).first().click()
  await page.waitForURL(`${origin.url}/s/${agent}/statistics-of-a-text`)
  await page.locator('.tabs label', { hasText: 'Python' }).click()
  expect(await page.locator('.p-python pre').innerText()).toContain(
    'https://market.example/api/x402/pay?service_id=svc_',
  )
  expect(await page.evaluate('window.isSamePage')).toBe(true)
  expect(problems).toEqual([])
  await page.context().close()
})

const DAY = '2026-11-18'
const SIGNER = 'TreasuryOnSolana'

/** An honest marketplace that owes 10.00 on Base, and anchored it. */
function honestWorld() {
  const leaf = {
    account: 'escrow:base-mainnet:order:a',
    holder: '0xabc',
    amount_usd: '10.00',
    micros: '10000000',
    salt: 'ab',
  }
  const path = [{ side: 'left', hash: 'c'.repeat(64), sum: '2500000' }] as const
  const { hash: root, sum } = rootBy({ leaf, path }) ?? { hash: '', sum: 0n }
  const tree = { snapshot_id: 'rsv_b', root, total_usd: '12.50', total_micros: String(sum) }
  const networks = [{ network: 'base-mainnet', ...tree, agent_wallets: null }] as const
  const anchor: ReserveAnchor = {
    day: DAY,
    networks,
    text: anchorText({ day: DAY, networks }),
    anchored: {
      network: 'solana-mainnet',
      account: SIGNER,
      signature: 'anchor',
      final_at: `${DAY}T01:00:00Z`,
    },
  }
  const proof: LiabilityProof = {
    ...{
      network: 'base-mainnet',
      snapshot_id: 'rsv_b',
      checked_at: `${DAY}T00:00:00Z`,
      root,
      total_usd: '12.50',
    },
    ...{ leaf, path },
  }
  return { anchor, proof, memo: anchor.text }
}
type ProofWorld = ReturnType<typeof honestWorld>

const LIES: readonly (readonly [
  what: string,
  expected: string,
  tamper: (world: ProofWorld) => ProofWorld,
  knownTreasury: string,
])[] = [
  ['nothing', 'ok', (world) => world, SIGNER],
  ['nothing, but only the API names the signer', 'unknown', (world) => world, ''],
  ['the signer', 'failed', (world) => world, 'AnotherTreasury'],
  [
    'the leaf',
    'failed',
    (world) => ({ ...world, proof: { ...world.proof, leaf: { ...world.proof.leaf, micros: '9000000' } } }),
    SIGNER,
  ],
  [
    'a sum of the path',
    'failed',
    (world) => ({
      ...world,
      proof: { ...world.proof, path: world.proof.path.map((step) => ({ ...step, sum: '-2500000' })) },
    }),
    SIGNER,
  ],
  [
    'the root',
    'failed',
    (world) => ({
      ...world,
      anchor: {
        ...world.anchor,
        networks: world.anchor.networks.map((one) => ({ ...one, root: 'd'.repeat(64) })),
      },
    }),
    SIGNER,
  ],
  [
    'the memo',
    'failed',
    (world) => ({ ...world, memo: `market.reserves.v1 ${DAY} ${'1'.repeat(64)}` }),
    SIGNER,
  ],
]

/** What the node says about the anchor. */
function nodeResult(method: string, memo: string): unknown {
  const blockTime = Math.floor(Date.now() / 1_000)
  if (method === 'getSignaturesForAddress')
    return [{ memo: `[${memo.length}] ${memo}`, err: null, blockTime, signature: 'anchor' }]
  const instructions = [{ programId: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', parsed: memo }]
  const accountKeys = [{ pubkey: SIGNER, signer: true }]
  return {
    ...{ blockTime, meta: { err: null, preTokenBalances: [], postTokenBalances: [] } },
    transaction: { message: { accountKeys, instructions } },
  }
}

test.each(LIES)(
  'proof in the browser, changed: %s: the verdict is %s',
  async (_what, verdict, tamper, known) => {
    const world = tamper(honestWorld())
    const { page, problems } = await shown('/fees')
    const send = (data: unknown, more = {}) => ({ json: { success: true, data, ...more } })
    await page.route('**/api/solvency/anchors*', (route) =>
      route.fulfill(send([world.anchor], { next_cursor: null })),
    )
    await page.route('**/api/solvency/history*', (route) => route.fulfill(send([])))
    await page.route('**/api/solvency', (route) =>
      route.fulfill(send([{ ...SOLANA_RESERVES, treasury: SIGNER }])),
    )
    await page.route(NODE, (route) => {
      const { method } = route.request().postDataJSON() as { method: string }
      const json = { jsonrpc: '2.0', id: 1, result: nodeResult(method, world.memo) }
      return route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } })
    })
    // Without a reload, so that the browser reads what the API says here.
    await page.evaluate('window.isSamePage = true')
    const link = page.locator('footer').getByRole('link', { name: 'Terms' })
    await expect.poll(() => isHydrated(link), { timeout: 150_000 }).toBe(true)
    await page.setViewportSize({ width: 1_280, height: 800 })
    await page.clock.install()
    await page.clock.fastForward(60_000)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Solvency' }).click()
    await page.getByLabel('Treasury address on Solana').fill(known)
    await page.locator('input[type=file]').setInputFiles({
      name: 'proof.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ success: true, data: [world.proof] })),
    })
    const result = page.locator('article[data-verdict]')
    await result.waitFor()
    expect(await result.getAttribute('data-verdict'), await result.innerText()).toBe(verdict)
    expect(await page.evaluate('window.isSamePage')).toBe(true)
    expect(problems).toEqual([])
    await page.context().close()
  },
)

const SOLANA_RESERVES = {
  ...{ network: 'solana-mainnet', cold: null, checked_at: `${DAY}T00:00:00Z`, assets_usd: '0.00' },
  ...{ assets_final_usd: '0.00', venues_usd: '0.00', liabilities_usd: '0.00', earn_usd: '0.00' },
  ...{ platform_usd: '0.00', in_flight_usd: '0.00', in_flight: [], in_flight_count: 0, unfinal_usd: '0.00' },
  ...{ shortfall_usd: '0.00', solvent: true, proof: null, agent_wallets: null },
}

test('a file that is not a proof is refused with a sentence', async () => {
  const { page } = await shown('/solvency')
  const field = page.locator('input[type=file]')
  await expect.poll(() => isHydrated(field), { timeout: 150_000 }).toBe(true)
  await field.setInputFiles({
    name: 'x.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"data":[{}]}'),
  })
  await page.getByText('This file is not a saved response of GET /api/solvency/proof.').waitFor()
  await page.context().close()
})

test('the address of a purchase is a credential: it is not stored, sent elsewhere or listed', async () => {
  const response = await fetch(origin.url + purchase)
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  })
  expect((await fetch(`${origin.url}${purchase}x`)).status).toBe(404)
  expect(await (await fetch(`${origin.url}/robots.txt`)).text()).toContain('Disallow: /o/')
})

test('the sitemap lists the pages, the agents and the services', async () => {
  const text = await (await fetch(`${origin.url}/sitemap.xml`)).text()
  expect(text).toContain(`<loc>https://market.example/s/${agent}/statistics-of-a-text</loc>`)
  expect(text).toContain('<loc>https://market.example/solvency</loc>')
  expect(text).not.toContain('/o/')
})

test('the keyboard alone searches, filters, opens a service and copies its code', async () => {
  const { page, problems } = await shown('/')
  await page.setViewportSize({ width: 1_280, height: 800 })
  const field = page.getByRole('searchbox', { name: 'Search services' })
  await expect.poll(() => isHydrated(field), { timeout: 150_000 }).toBe(true)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await page.keyboard.press('/')
  await page.keyboard.type('statistics')
  await page.waitForURL(/search=statistics/)
  const focus = async (selector: string) => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
    }
    throw new Error(`60 presses of Tab do not reach ${selector}`)
  }
  await focus('input[name=price_type]')
  await page.keyboard.press('ArrowDown')
  await page.waitForURL(/price_type=fixed/)
  await focus('li.service a')
  await page.keyboard.press('Enter')
  await page.waitForURL(/statistics-of-a-text/)
  await focus('input[name=hire]')
  await page.keyboard.press('ArrowRight')
  await page.locator('.p-sdk').waitFor()
  await focus('.p-sdk button')
  expect(problems).toEqual([])
  await page.context().close()
})

test('without script: filters are a form, and title, price, text and description are shown', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${origin.url}/?search=statistics`)
  await page.getByRole('link', { name: 'Statistics of a text' }).first().click()
  await page.waitForURL(`${origin.url}/s/${agent}/statistics-of-a-text`)
  const text = await page.locator('main').innerText()
  expect(text).toContain('0.50 USDC')
  expect(text).toContain('No reviews yet')
  expect(await page.title()).toBe('Statistics of a text by Text Analyst · Agent Market')
  const facts = await page.locator('script[type="application/ld+json"]').textContent()
  expect(JSON.parse(facts ?? '')).toMatchObject({ '@type': 'Service', offers: { price: '0.50' } })
  await context.close()
})

test('a page is the same for two users, has an ETag, and is 304 when it is unchanged', async () => {
  const get = (headers: Record<string, string>) => drawnOnce.inject({ url: '/fees', headers })
  const one = await get({ cookie: 'idp-token=one' })
  const two = await get({ cookie: 'idp-token=two' })
  expect(one.body).toBe(two.body)
  expect(one.headers['cache-control']).toBe('public, max-age=30')
  expect((await get({ 'if-none-match': String(one.headers.etag) })).statusCode).toBe(304)
  expect(one.headers['content-security-policy']).toContain("trusted-types 'none'")
})

test('a page that is drawn again keeps its ETag while it says the same', async () => {
  const first = await alwaysDrawn.inject('/fees')
  const etag = String(first.headers['etag'])
  const again = await alwaysDrawn.inject({ url: '/fees', headers: { 'if-none-match': etag } })
  expect([first.statusCode, again.statusCode]).toEqual([200, 304])
  const other = await alwaysDrawn.inject({ url: '/terms', headers: { 'if-none-match': etag } })
  expect(other.statusCode).toBe(200)
})

test('a page, an agent or a service that does not exist is 404 in the same look', async () => {
  for (const path of ['/nothing', '/a/none', `/s/${agent}/none`, '/b/bnty_1']) {
    const response = await fetch(origin.url + path)
    expect({ path, status: response.status }).toEqual({ path, status: 404 })
    expect(await response.text()).toContain('This page does not exist')
  }
})

test('a service that is not among the newest 50 of its agent has its page too', async () => {
  const seller = await makeOwnedAgent(market)
  const oldest = await makeService(market, seller, { title: 'The oldest of many services' })
  for (let count = 0; count < 50; count++) await makeService(market, seller)
  const response = await fetch(`${origin.url}/s/${seller.slug}/${oldest.slug}`)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('The oldest of many services')
})

test('the address of the visitor reaches the limits of the API', async () => {
  const remaining = async (address: string) => {
    const response = await fetch(`${origin.url}/api/agents/none`, { headers: { 'x-forwarded-for': address } })
    return Number(response.headers.get('x-ratelimit-remaining'))
  }
  const visit = (address: string, page: number) =>
    fetch(`${origin.url}/agents?search=word${page}`, { headers: { 'x-forwarded-for': address } })
  const before = await remaining('203.0.113.7')
  await Promise.all(Array.from({ length: 5 }, (_, page) => visit('203.0.113.8', page)))
  expect(await remaining('203.0.113.7')).toBe(before - 1)
  expect(await remaining('203.0.113.8')).toBeLessThan(before - 1)
})

test('sizes: what the first page loads is at most 120 KB of script and 14 KB of styles, with a route 160 KB, compressed', () => {
  const folder = `${BUILD}client`
  const { script, modules, styles } = readAssets(folder)
  const chunks = readAssetFiles(folder)
  const size = (path: string) => gzipSync(readFileSync(folder + path), { level: 9 }).length
  const sum = (paths: readonly string[]) => paths.reduce((total, path) => total + size(path), 0)
  expect(sum([script, ...modules]) / 1_024).toBeLessThan(120)
  expect(sum(styles) / 1_024).toBeLessThan(14)
  const first = new Set([script, ...modules])
  const lazy = [...chunks.keys()].filter((path) => path.endsWith('.js') && !first.has(path))
  for (const chunk of lazy)
    expect({ chunk, size: (sum([...first]) + size(chunk)) / 1_024 < 160 }).toEqual({ chunk, size: true })
})
