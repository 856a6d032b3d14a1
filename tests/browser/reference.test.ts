import { mkdirSync, readFileSync } from 'node:fs'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'

/** The reference, the start page and the guides in a real browser. Screenshots are in .cache/screenshots. */

const SCREENSHOTS = '.cache/screenshots'
const SIZES = { phone: { width: 360, height: 740 }, desktop: { width: 1_280, height: 800 } } as const
const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

let market: Market
let browser: Browser
let context: BrowserContext

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  market = await startMarket()
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  context = await browser.newContext()
  // A busy machine makes pages slower, and must not make the test fail.
  context.setDefaultTimeout(150_000)
})
afterAll(async () => {
  await browser.close()
  await market.stop()
})

interface Opened {
  readonly page: Page
  /** Errors of the console and of scripts, and requests to other origins. */
  readonly problems: string[]
}

async function open(path: string): Promise<Opened> {
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== market.url) problems.push(request.url())
  })
  await page.setViewportSize(SIZES.phone)
  await page.goto(market.url + path)
  return { page, problems }
}

const TRANSITIONS_END =
  'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished)).then(() => {})'

/** Shows an open page in another size and color scheme, and waits until its colors have changed. */
async function show(page: Page, size: keyof typeof SIZES, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize(SIZES[size])
  await page.emulateMedia({ colorScheme })
  // The script of the reference follows the scheme with a class; the other pages have a media query.
  await page.waitForSelector(`body.${colorScheme}-mode, body:not(.light-mode, .dark-mode)`)
  await page.evaluate(TRANSITIONS_END)
}

/** The serious and critical violations that axe finds, with their elements. */
async function violations(page: Page): Promise<string[]> {
  // Axe describes every element that passes, unless only violations are requested.
  const results = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as AxeResults
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** What a reader waits for, on each page. */
const PAGES = [
  ['reference-order', '/docs#tag/orders/POST/api/orders', 'text=$MARKET_API_KEY'],
  ['reference', '/docs', '.scalar-app h1:has-text("Agent Market")'],
  ['start', '/', 'h1:has-text("Hire autonomous agents")'],
  ['guides', '/docs/guides', 'h1:has-text("Guides")'],
  ['guide', '/docs/guides/sell-your-first-service', 'h2:has-text("1. Register")'],
  ['errors', '/docs/contract/errors', 'code:has-text("transfer_used")'],
] as const

const ALL_MODES = process.env['PAGE_MODES'] === 'all'

/** A small dark page and a large light one; the gauntlet shows all four. */
const MODES = [
  ['phone', 'dark'],
  ['desktop', 'light'],
  ...(ALL_MODES
    ? ([
        ['phone', 'light'],
        ['desktop', 'dark'],
      ] as const)
    : []),
] as const

/** Axe reads each of these 4 MB pages for seconds, and both are drawn by one script: in CI it reads each once. */
const READ_ONCE: Readonly<Record<string, string>> = { 'reference-order': 'light', reference: 'dark' }
const isRead = (name: string, colorScheme: string) =>
  ALL_MODES || (READ_ONCE[name] ?? colorScheme) === colorScheme

test.concurrent.each(PAGES)(
  '%s: no error, no request elsewhere, and in each size and color scheme no overflow and no serious violation',
  async (name, path, awaited) => {
    const { page, problems } = await open(path)
    await page.waitForSelector(awaited)
    // The font of the other pages, from this origin.
    await page.waitForFunction(
      "[...document.fonts].some((font) => font.family.includes('Geist') && font.status === 'loaded')",
    )
    await page.evaluate(AXE)
    for (const [size, colorScheme] of MODES) {
      await show(page, size, colorScheme)
      await page.screenshot({ path: `${SCREENSHOTS}/${name}-${size}-${colorScheme}.png` })
      const width = await page.locator('html').evaluate((element) => element.scrollWidth)
      const mode = `${size}, ${colorScheme}`
      expect({ mode, overflow: Math.max(0, width - SIZES[size].width) }).toEqual({ mode, overflow: 0 })
      if (isRead(name, colorScheme))
        expect({ mode, violations: await violations(page) }).toEqual({ mode, violations: [] })
    }
    expect(problems).toEqual([])
    await page.close()
  },
)

test('without script the introduction of the reference is there, with a way home', async () => {
  const noScript = await browser.newContext({ javaScriptEnabled: false })
  const page = await noScript.newPage()
  await page.goto(`${market.url}/docs`)
  expect(await page.locator('#introduction h2').first().innerText()).toBe('First call')
  expect(await page.locator('.bar .brand').getAttribute('href')).toBe('/')
  await noScript.close()
})

/** Opens the search, enters a text and returns the first result, which must be the expected one. */
async function search(page: Page, text: string, result: string): Promise<Locator> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Enter search query' }).waitFor()
  await page.keyboard.insertText(text)
  const first = page.getByRole('option').first()
  await first.filter({ hasText: result }).waitFor()
  return first
}

/** Waits until the page shows the operation: the search is closed and the heading is in view. */
async function waitForOperation(page: Page, summary: string, hash: string): Promise<void> {
  await page.getByRole('combobox').waitFor({ state: 'detached' })
  await page.waitForURL(`${market.url}/docs${hash}`)
  const heading = await page.waitForSelector(`h3:has-text("${summary}")`)
  await page.waitForFunction(
    ({ element, height }) => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && bottom <= height
    },
    { element: heading, height: SIZES.desktop.height },
  )
}

test.concurrent('the search finds operations by keyboard alone, and opens a result by click', async () => {
  const { page, problems } = await open('/docs')
  await page.setViewportSize(SIZES.desktop)
  await page.waitForSelector('.scalar-app h1:has-text("Agent Market")')
  await page.getByRole('button', { name: 'Search' }).first().waitFor()

  await search(page, 'Create an order', 'Create an order')
  await page.keyboard.press('ArrowDown')
  await page.getByRole('option', { selected: true }).filter({ hasText: 'Create an order' }).waitFor()
  await page.keyboard.press('Enter')
  await waitForOperation(page, 'Create an order', '#tag/orders/POST/api/orders')

  const found = await search(page, 'createBounty', 'Post a bounty')
  await found.click()
  await waitForOperation(page, 'Post a bounty', '#tag/bounties/POST/api/bounties')
  expect(problems).toEqual([])
  await page.close()
})
