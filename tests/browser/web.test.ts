import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync, inflateSync } from 'node:zlib'
import { startOrigin } from '@market/dev/web'
import { HOUR } from '@market/kernel/clock'
import { anchorText, type LiabilityProof, type ReserveAnchor, rootBy } from '@market/solvency'
import { readAssetFiles, readAssets } from '@market/web/assets'
import type { RenderPage } from '@market/web/page'
import { Pictures } from '@market/web/pictures/pictures'
import { buildServer } from '@market/web/server'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBounty } from '../support/bounties.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makePurchasedOrder } from '../support/purchased-order.ts'
import { makeService } from '../support/services.ts'
import { hydrated, missedByKeyboard, moving, overflow, violations } from './page-checks.ts'

/** The pages for people in a real browser. With SCREENSHOTS=1, pictures of each page in all sizes are in .cache/screenshots. */

const SCREENSHOTS = process.env['SCREENSHOTS'] === '1' ? '.cache/screenshots' : undefined
const BUILD = fileURLToPath(new URL('../../apps/web/dist/', import.meta.url))
const WORKER = pathToFileURL(`${BUILD}server/picture-worker.js`)
/** Every text that a user writes, at its worst: markup, one long word, right-to-left, emoji. */
const HOSTILE = `<img src=x onerror="window.ran=1"></script><script>window.ran=1</script> שלום 🐟${'x'.repeat(600)}`

/** A Solana node that the pages may ask; each test says what it returns. */
const NODE = 'http://node.example/rpc'

let market: Market
let browser: Browser
let context: BrowserContext
let origin: Awaited<ReturnType<typeof startOrigin>>
let pages: ReturnType<typeof buildServer>
/** Draws a page for every request. */
let alwaysDrawn: ReturnType<typeof buildServer>
/** Draws a page once. */
let drawnOnce: ReturnType<typeof buildServer>
let hostileService: string
let agent: string
/** Of a user who owns the agent. */
let ownerWallet: string
let purchase: string
let bounty: string

beforeAll(async () => {
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true })
  market = await startMarket({ TRUSTED_PROXIES: '127.0.0.1' })
  const seller = await makeOwnedAgent(market, { name: 'Text Analyst', description: HOSTILE.slice(0, 500) })
  agent = seller.slug
  ownerWallet = seller.owner.address
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
  pages = buildServer(config, { ...parts, pictures: new Pictures(WORKER) })
  alwaysDrawn = buildServer(config, { ...parts, freshMs: 0 })
  drawnOnce = buildServer(config, { ...parts, freshMs: 1 * HOUR })
  const pagesUrl = await pages.listen({ host: '127.0.0.1', port: 0 })
  origin = await startOrigin({ port: 0, apiUrl: market.url, pagesUrl })
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  context = await newContext()
})
afterAll(async () => {
  await browser?.close()
  origin?.stop()
  await pages?.close()
  await alwaysDrawn?.close()
  await drawnOnce?.close()
  await market?.stop()
})

const newContext = async (): Promise<BrowserContext> => {
  const made = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' })
  // A busy machine makes pages slower, and must not make the test fail.
  made.setDefaultTimeout(150_000)
  await made.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
  )
  return made
}

/** Opens a page, and waits until it is more than a document. */
const shown = async (url: string, inContext = context) => {
  const page = await inContext.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(origin.url + url)
  await hydrated(page)
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
  ['solvency', '/solvency', 'h1:has-text("No network was compared yet")'],
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

/** A small dark page and a large light one; the gauntlet shows all four. */
const MODES = [
  [360, 'dark'],
  [1_280, 'light'],
  ...(process.env['PAGE_MODES'] === 'all'
    ? ([
        [360, 'light'],
        [1_280, 'dark'],
      ] as const)
    : []),
] as const

test('every page is looked at', () => expect(PAGES().map(([name]) => name)).toEqual([...NAMES]))

test.concurrent.each(NAMES)(
  '%s: no error, no policy violation, no script of a user, no overflow, no motion, no violation of axe, and the keyboard reaches every control (asvs V1.2)',
  async (name) => {
    const [, path, awaited] = PAGES().find(([one]) => one === name) ?? ['', '', '']
    const { page, problems } = await shown(path)
    await page.locator(awaited).first().waitFor()
    if (name === 'shop') expect(await moving(page)).not.toEqual([])
    for (const [width, colorScheme] of MODES) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      if (SCREENSHOTS !== undefined)
        await page.screenshot({
          path: `${SCREENSHOTS}/web-${name}-${width}-${colorScheme}.png`,
          fullPage: true,
        })
      expect({ width, overflow: await overflow(page) }).toEqual({ width, overflow: 0 })
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] })
    }
    expect(await moving(page)).toEqual([])
    expect(await missedByKeyboard(page)).toEqual([])
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
  },
)

test('search as you type: results and address follow, and a service opens without loading the page again', async () => {
  const { page, problems } = await shown('/')
  await page.evaluate('window.isSamePage = true')
  const field = page.getByRole('searchbox', { name: 'Search services' })
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
  await page.close()
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

test('proof in the browser: what a changed leaf, sum, root, memo or signer is worth', async () => {
  // The clock belongs to the context.
  const own = await newContext()
  const { page, problems } = await shown('/fees', own)
  let world = honestWorld()
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

const SOLANA_RESERVES = {
  ...{ network: 'solana-mainnet', cold: null, checked_at: `${DAY}T00:00:00Z`, assets_usd: '0.00' },
  ...{ assets_final_usd: '0.00', venues_usd: '0.00', liabilities_usd: '0.00', earn_usd: '0.00' },
  ...{ platform_usd: '0.00', in_flight_usd: '0.00', in_flight: [], in_flight_count: 0, unfinal_usd: '0.00' },
  ...{ shortfall_usd: '0.00', solvent: true, proof: null, agent_wallets: null },
}

test('a file that is not a proof is refused with a sentence', async () => {
  const { page } = await shown('/solvency')
  await page.locator('input[type=file]').setInputFiles({
    name: 'x.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"data":[{}]}'),
  })
  await page.getByText('This file is not a saved response of GET /api/solvency/proof.').waitFor()
  await page.close()
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

test('the sitemap lists the pages, the agents and the services, and is stored', async () => {
  const of = async (server: typeof pages) => (await server.inject('/sitemap.xml')).body
  const text = await of(drawnOnce)
  expect(text).toContain(`<loc>https://market.example/s/${agent}/statistics-of-a-text</loc>`)
  expect(text).toContain('<loc>https://market.example/solvency</loc>')
  expect(text).not.toContain('/o/')
  const seller = await makeOwnedAgent(market)
  await makeService(market, seller)
  expect(await of(drawnOnce)).toBe(text)
  expect(await of(alwaysDrawn)).toContain(`/a/${seller.slug}<`)
})

test('the keyboard alone searches, filters, opens a service and copies its code', async () => {
  const { page, problems } = await shown('/')
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  const isSearching = async () => {
    await page.keyboard.press('/')
    return page.evaluate("document.activeElement.matches('input[type=search]')")
  }
  // The field listens a moment after the page is hydrated.
  await expect.poll(isSearching, { timeout: 150_000 }).toBe(true)
  await page.keyboard.type('statistics')
  await page.waitForURL(/search=statistics/)
  const focus = async (selector: string) => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
    }
    throw new Error(`60 presses of Tab do not reach ${selector}`)
  }
  await focus('.more-chips input')
  await page.keyboard.press('Space')
  await page.locator('.chip.later').first().waitFor()
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
  await page.close()
})

test('without script: filters are a form, and title, price, text and description are shown', async () => {
  const withoutScript = await browser.newContext({ javaScriptEnabled: false })
  const page = await withoutScript.newPage()
  await page.goto(`${origin.url}/?search=statistics`)
  await page.getByRole('link', { name: 'Statistics of a text' }).first().click()
  await page.waitForURL(`${origin.url}/s/${agent}/statistics-of-a-text`)
  const text = await page.locator('main').innerText()
  expect(text).toContain('0.50 USDC')
  expect(text).toContain('No reviews yet')
  expect(await page.title()).toBe('Statistics of a text by Text Analyst · Agent Market')
  const facts = await page.locator('script[type="application/ld+json"]').textContent()
  expect(JSON.parse(facts ?? '')).toMatchObject({ '@type': 'Service', offers: { price: '0.50' } })
  await withoutScript.close()
})

test('a page says the same to its owner, to another user and to nobody', async () => {
  const owner = await makeUser(market, { wallets: [ownerWallet] })
  const other = await makeUser(market)
  for (const path of ['/', `/a/${agent}`, `/s/${agent}/statistics-of-a-text`, '/solvency']) {
    const of = async (headers: Record<string, string>) =>
      (await alwaysDrawn.inject({ url: path, headers })).headers['etag']
    const nobody = await of({})
    for (const { token } of [owner, other]) {
      const etag = await of({ cookie: `idp-token=${token}`, authorization: `Bearer ${token}` })
      expect({ path, etag }).toEqual({ path, etag: nobody })
    }
  }
})

test('a stored page is 304 while it is unchanged, and allows no inline script', async () => {
  const get = (headers: Record<string, string>) => drawnOnce.inject({ url: '/fees', headers })
  const { headers } = await get({})
  expect(headers['cache-control']).toBe('public, max-age=30')
  expect((await get({ 'if-none-match': String(headers.etag) })).statusCode).toBe(304)
  expect(headers['content-security-policy']).toContain("trusted-types 'none'")
})

test('a page that is drawn again keeps its ETag while it says the same', async () => {
  const first = await alwaysDrawn.inject('/fees')
  const etag = String(first.headers['etag'])
  const again = await alwaysDrawn.inject({ url: '/fees', headers: { 'if-none-match': etag } })
  expect([first.statusCode, again.statusCode]).toEqual([200, 304])
  const other = await alwaysDrawn.inject({ url: '/terms', headers: { 'if-none-match': etag } })
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
    [`/s/${agent}/statistics-of-a-text`, `/picture/s/${agent}/statistics-of-a-text`],
    [`/s/${agent}/${hostileService}`, `/picture/s/${agent}/${hostileService}`],
    [`/a/${agent}`, `/picture/a/${agent}`],
    [`/b/${bounty}`, `/picture/b/${bounty}`],
  ] as const
  for (const [path, picture] of pictures) {
    const page = (await pages.inject(path)).body
    expect(page).toContain(`<meta property="og:image" content="https://market.example${picture}"/>`)
    expect(page).toContain('<meta name="twitter:card" content="summary_large_image"/>')
    const { headers, rawPayload } = await pages.inject(picture)
    if (SCREENSHOTS !== undefined)
      writeFileSync(`${SCREENSHOTS}/picture${picture.replaceAll('/', '-').slice(0, 40)}.png`, rawPayload)
    expect({ picture, type: headers['content-type'], size: sizeOf(rawPayload) }).toEqual({
      picture,
      type: 'image/png',
      size: [1_200, 630],
    })
    const known = { 'if-none-match': String(headers.etag) }
    expect((await pages.inject({ url: picture, headers: known })).statusCode).toBe(304)
  }
  expect((await pages.inject('/picture/a/none')).statusCode).toBe(404)
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

test('visitors of one IPv6 network share the limits of the API, also when they ask for pages', async () => {
  const get = (path: string, address: string) =>
    fetch(origin.url + path, { headers: { 'x-forwarded-for': address } })
  const remaining = async (address: string) =>
    Number((await get('/api/agents/none', address)).headers.get('x-ratelimit-remaining'))
  const before = await remaining('2001:db8:7:1::1')
  await Promise.all(
    Array.from({ length: 5 }, (_, page) => get(`/agents?search=term${page}`, `2001:db8:7:1::${page + 2}`)),
  )
  expect(await remaining('2001:db8:7:1::7')).toBeLessThan(before - 5)
  expect(await remaining('2001:db8:7:2::1')).toBe(before)
})

test('from the sources, pages are shown to this machine only', async () => {
  const live = spawn(process.execPath, ['apps/web/src/commands/live.ts'], {
    env: { ...process.env, API_URL: market.url, APP_URL: 'http://127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: live.stdout }), 'line')) as [string]
  const { port } = new URL((JSON.parse(line) as { readonly url: string }).url)
  const statusOf = (path: string, host: string) =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject)
    })
  for (const path of ['/fees', '/entry-client.tsx']) {
    expect({ path, status: await statusOf(path, `127.0.0.1:${port}`) }).toEqual({ path, status: 200 })
    expect({ path, status: await statusOf(path, 'evil.example') }).toEqual({ path, status: 403 })
  }
  live.kill()
  await once(live, 'exit')
})

test('sizes: what the first page loads is at most 120 KB of script, 14 KB of styles and 55 KB of fonts, with a route 160 KB, compressed', () => {
  const folder = `${BUILD}client`
  const { script, modules, styles, fonts } = readAssets(folder)
  const chunks = readAssetFiles(folder)
  const size = (path: string) => gzipSync(readFileSync(folder + path), { level: 9 }).length
  const sum = (paths: readonly string[]) => paths.reduce((total, path) => total + size(path), 0)
  expect(sum([script, ...modules]) / 1_024).toBeLessThan(120)
  expect(sum(styles) / 1_024).toBeLessThan(14)
  expect(sum(fonts) / 1_024).toBeLessThan(55)
  const first = new Set([script, ...modules])
  const lazy = [...chunks.keys()].filter((path) => path.endsWith('.js') && !first.has(path))
  for (const chunk of lazy)
    expect({ chunk, size: (sum([...first]) + size(chunk)) / 1_024 < 160 }).toEqual({ chunk, size: true })
})
