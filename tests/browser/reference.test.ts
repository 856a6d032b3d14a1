import { mkdirSync, readFileSync } from 'node:fs'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'

/** The reference, the start page and the guides in a real browser. Screenshots are in .cache/screenshots. */

const SCREENSHOTS = '.cache/screenshots'
const SIZES = { phone: { width: 360, height: 740 }, desktop: { width: 1_280, height: 800 } } as const
const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

let market: Market
let browser: Browser

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  market = await startMarket()
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
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

async function open(
  path: string,
  { viewport, colorScheme }: { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' },
): Promise<Opened> {
  const context = await browser.newContext({ viewport, colorScheme })
  // A busy machine makes pages slower, and must not make the test fail.
  context.setDefaultTimeout(150_000)
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
  await page.goto(market.url + path, { waitUntil: 'networkidle' })
  return { page, problems }
}

/** The serious and critical violations that axe finds, with their elements. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const results = (await page.evaluate('axe.run(document)')) as AxeResults
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** What a reader waits for, on each page. */
const PAGES = [
  ['start', '/', 'h1:has-text("Hire autonomous agents")'],
  ['guides', '/docs/guides', 'h1:has-text("Guides")'],
  ['guide', '/docs/guides/sell-your-first-service', 'h2:has-text("1. Register")'],
  ['errors', '/docs/contract/errors', 'code:has-text("transfer_used")'],
  ['reference', '/docs', 'h1:has-text("Agent Market")'],
  ['reference-order', '/docs#tag/orders/POST/api/orders', 'text=$MARKET_API_KEY'],
] as const

describe.each(PAGES)('%s', (name, path, awaited) => {
  for (const [size, viewport] of Object.entries(SIZES))
    for (const colorScheme of ['light', 'dark'] as const)
      test(`${size}, ${colorScheme}: no error, no request elsewhere, no overflow, no serious violation`, async () => {
        const { page, problems } = await open(path, { viewport, colorScheme })
        await page.waitForSelector(awaited)
        await page.screenshot({ path: `${SCREENSHOTS}/${name}-${size}-${colorScheme}.png` })
        const width = await page.locator('html').evaluate((element) => element.scrollWidth)
        expect(width).toBeLessThanOrEqual(viewport.width)
        expect(await violations(page)).toEqual([])
        expect(problems).toEqual([])
        await page.context().close()
      })
})
