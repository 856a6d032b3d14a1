import { fileURLToPath, pathToFileURL } from 'node:url'
import { startOrigin } from '@market/dev/web'
import { HOUR } from '@market/kernel/clock'
import { readAssetFiles, readAssets } from '@market/web/assets'
import type { RenderPage } from '@market/web/page'
import { Pictures } from '@market/web/pictures/pictures'
import { buildServer } from '@market/web/server'
import { type BrowserContext, chromium } from 'playwright-core'
import { makeBounty } from '../support/bounties.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makePurchasedOrder } from '../support/purchased-order.ts'
import { makeService } from '../support/services.ts'
import { hydrated } from './page-checks.ts'

/** Servers of the pages with a marketplace behind them, and a browser. */

export const BUILD = fileURLToPath(new URL('../../apps/web/dist/', import.meta.url))
/** The thread of the pictures. */
export const WORKER = pathToFileURL(`${BUILD}server/picture-worker.js`)
/** A Solana node that the pages may ask; each test says what it returns. */
export const NODE = 'http://node.example/rpc'

/** Every text that a user writes, at its worst: markup, one long word, right-to-left, emoji. */
export const HOSTILE = `<img src=x onerror="window.ran=1"></script><script>window.ran=1</script> שלום 🐟${'x'.repeat(600)}`

/** One agent with an ordinary service, and everything else with hostile texts. */
async function fill(market: Market) {
  const seller = await makeOwnedAgent(market, { name: 'Text Counter', description: HOSTILE.slice(0, 500) })
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
  const bought = await makePurchasedOrder(market, statistics)
  const bounty = await makeBounty(market, { title: HOSTILE.slice(0, 100), brief: HOSTILE })
  return {
    agent: seller.slug,
    /** Of a user who owns the agent. */
    ownerWallet: seller.owner.address,
    hostileService: hostile.slug,
    purchase: `/o/${bought.id}?t=${bought.accessToken}`,
    bounty: bounty.id,
  }
}

/** `fillMore` adds to the marketplace before the hostile texts, which are then the newest. */
export async function startWebPages(fillMore?: (market: Market) => Promise<void>) {
  const market = await startMarket({ TRUSTED_PROXIES: '127.0.0.1' })
  await fillMore?.(market)
  const filled = await fill(market)
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
  const pages = buildServer(config, { ...parts, pictures: new Pictures(WORKER) })
  /** Draws a page for every request. */
  const alwaysDrawn = buildServer(config, { ...parts, freshMs: 0 })
  /** Draws a page once. */
  const drawnOnce = buildServer(config, { ...parts, freshMs: 1 * HOUR })
  const pagesUrl = await pages.listen({ host: '127.0.0.1', port: 0 })
  const origin = await startOrigin({ port: 0, apiUrl: market.url, pagesUrl })
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
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
  const context = await newContext()
  /** Opens a page, and waits until it is more than a document. */
  const shown = async (path: string, inContext = context) => {
    const page = await inContext.newPage()
    const problems: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(origin.url + path)
    await hydrated(page)
    return { page, problems }
  }
  const { agent, hostileService, bounty, purchase } = filled
  /** Every page, and what a reader waits for. */
  const all: Readonly<Record<PageName, readonly [path: string, awaited: string]>> = {
    shop: ['/', 'text=Statistics of a text'],
    service: [`/s/${agent}/statistics-of-a-text`, 'h1:has-text("Statistics of a text")'],
    'hostile-service': [`/s/${agent}/${hostileService}`, 'h2:has-text("The agent asks")'],
    agent: [`/a/${agent}`, 'h1:has-text("Text Counter")'],
    agents: ['/agents', 'text=Text Counter'],
    bounties: ['/bounties', 'h1:has-text("Bounties")'],
    activity: ['/activity', 'h1:has-text("Activity")'],
    solvency: ['/solvency', 'h2:has-text("What this does not prove")'],
    fees: ['/fees', 'h1:has-text("Fees")'],
    status: ['/status', 'h1:has-text("Everything works")'],
    terms: ['/terms', 'text=Pay what you order.'],
    privacy: ['/privacy', 'text=has published no privacy here'],
    purchase: [purchase, 'h2:has-text("You ordered")'],
    bounty: [`/b/${bounty}`, 'h1:has-text("<img")'],
    'sign-in': ['/sign-in', 'text=No wallet was found'],
    workspaces: ['/workspaces', 'text=Sign in to see what you have subscribed to'],
    'post-bounty': ['/bounties/new', 'text=Sign in to post a bounty'],
    'my-bounties': ['/bounties/mine', 'text=Sign in to see what you have posted'],
    orders: ['/orders', 'text=Sign in to see what you have ordered'],
    'order-form': [`/s/${agent}/${hostileService}/order`, 'text=Sign in to order here'],
  }
  return {
    ...{ ...filled, market, origin, pages, alwaysDrawn, drawnOnce, browser, newContext, shown, all },
    stop: async () => {
      await browser.close()
      origin.stop()
      for (const server of [pages, alwaysDrawn, drawnOnce]) await server.close()
      await market.stop()
    },
  }
}
export type WebPages = Awaited<ReturnType<typeof startWebPages>>

export const PAGE_NAMES = [
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
  'sign-in',
  'workspaces',
  'post-bounty',
  'my-bounties',
  'orders',
  'order-form',
] as const
export type PageName = (typeof PAGE_NAMES)[number]
