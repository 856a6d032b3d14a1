import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { BountyPage } from '@market/contract/schemas/bounty'
import { Notification } from '@market/contract/schemas/event'
import { ListedOrder } from '@market/contract/schemas/order'
import { OrderPage } from '@market/contract/schemas/order-page'
import { Receipt } from '@market/contract/schemas/receipt'
import { Me } from '@market/contract/schemas/user'
import { LONG_USER, NOTIFICATIONS, RECEIPTS, SIGNED_IN } from '@market/web/app/looks/account-samples'
import { BOUNTY_PAGES } from '@market/web/app/looks/bounty-samples'
import { LISTED_ORDERS, ORDER_PAGES } from '@market/web/app/looks/order-samples'
import { WORKSPACE_PAGES } from '@market/web/app/looks/workspace-samples'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { overflow, violations } from './page-checks.ts'

/** The pages from their sources, as `npm run dev -- --web` serves them. No page of these needs the API. */

const SCREENSHOTS = process.env['SCREENSHOTS'] === '1' ? '.cache/screenshots' : undefined
/** CI sees one mode, and the pages themselves in two; the gauntlet sees all four. */
const MODES = (
  [
    [360, 'dark'],
    [1_280, 'light'],
    [360, 'light'],
    [1_280, 'dark'],
  ] as const
).slice(0, SCREENSHOTS === undefined ? 1 : 4)

let live: ChildProcess
let url: URL
let browser: Browser

beforeAll(async () => {
  live = spawn(process.execPath, ['apps/web/src/commands/live.ts'], {
    env: { ...process.env, API_URL: 'http://127.0.0.1:1', APP_URL: 'http://127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: live.stdout as NonNullable<typeof live.stdout> })
  const [line] = (await once(lines, 'line')) as [string]
  url = new URL((JSON.parse(line) as { readonly url: string }).url)
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
})
afterAll(async () => {
  await browser?.close()
  live.kill()
  await once(live, 'exit')
})

test('pages and sources are shown to this machine only', async () => {
  const statusOf = (path: string, host: string) =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port: url.port, path, headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject)
    })
  for (const path of ['/looks', '/terms', '/entry-client.tsx']) {
    expect({ path, status: await statusOf(path, url.host) }).toEqual({ path, status: 200 })
    expect({ path, status: await statusOf(path, 'evil.example') }).toEqual({ path, status: 403 })
  }
})

const expectParsed = (schema: z.ZodType, name: string, sample: unknown) => {
  const { error } = schema.safeParse(sample)
  expect({ name, problems: error?.issues ?? [] }).toEqual({ name, problems: [] })
}

test('the orders of /looks are what the contract returns', () => {
  for (const [name, page] of ORDER_PAGES) expectParsed(OrderPage, name, page)
  for (const order of LISTED_ORDERS) expectParsed(ListedOrder, order.id, order)
})

test('the account and the receipts of /looks are what the contract returns', () => {
  for (const notification of NOTIFICATIONS) expectParsed(Notification, notification.id, notification)
  for (const user of [SIGNED_IN.user, LONG_USER]) expectParsed(Me, 'me', { ...SIGNED_IN, user })
  for (const [name, receipt] of RECEIPTS) expectParsed(Receipt, name, receipt)
})

test('the workspaces and bounties of /looks are what the contract returns', () => {
  for (const [name, page] of WORKSPACE_PAGES)
    expect({ name, problems: OrderPage.safeParse(page).error?.issues ?? [] }).toEqual({ name, problems: [] })
  for (const [name, page] of BOUNTY_PAGES)
    expect({ name, problems: BountyPage.safeParse(page).error?.issues ?? [] }).toEqual({ name, problems: [] })
})

test('/looks: every part in every state has no violation of axe and no overflow', async () => {
  const page = await browser.newPage()
  page.setDefaultTimeout(150_000)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(new URL('/looks', url).href)
  await page.getByRole('heading', { name: 'Every part in every state' }).waitFor()
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true })
  for (const [width, colorScheme] of MODES) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    if (SCREENSHOTS !== undefined)
      await page.screenshot({ path: `${SCREENSHOTS}/looks-${width}-${colorScheme}.png`, fullPage: true })
    expect({ width, overflow: await overflow(page) }).toEqual({ width, overflow: 0 })
    expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] })
  }
})
