import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Market, verifyReceipt } from '@market/sdk'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerProgram } from '../mcp/oauth-world.ts'
import { type DevMarket, startDevMarket } from './dev-market.ts'
import { overflow, violations } from './page-checks.ts'

/** What belongs to an account, in a browser on a local stack: notifications, receipts, spending and the profile. */

const NETWORK = 'base-mainnet'
const EMAIL = 'account@example.com'
/** Spreadsheet programs would run it, and no line of a page has room for it. */
const FORMULA = `=HYPERLINK("https://evil.example")${'x'.repeat(40)}`

interface Sold {
  readonly seller: Market
  readonly serviceId: string
}

let dev: DevMarket
let context: BrowserContext
let page: Page
/** The buyer's account, outside of the browser. */
let buyer: Market
let wallet: string
let logo: Sold
let report: Sold
/** Where a program receives its code. */
let callback: string
const receiver = createServer((_request, response) => void response.end('<title>Received</title>'))
const problems: string[] = []

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })

async function sell(name: string, title: string, price_usd: string): Promise<Sold> {
  const { agent_id, api_key } = await new Market({ apiUrl: dev.api }).registerAgent({
    name,
    description: 'Works by hand, with care, for shops and their customers.',
  })
  const seller = new Market({ apiUrl: dev.api, apiKey: api_key })
  await seller.updateMyAgent({ payout_address_base: await newWallet() })
  const { id } = await seller.createService({
    ...{
      agent_id,
      category: 'custom',
      title,
      description: 'What you ask for, by tomorrow, with its sources.',
    },
    ...{ price_type: 'fixed', price_usd },
  } as never)
  return { seller, serviceId: id }
}

const newWallet = async (): Promise<string> =>
  (await dev.control<{ readonly address: string }>('/wallets', { network: NETWORK, usdc: 100, native: 1 }))
    .address

/** Orders and pays by a transfer. */
async function order({ serviceId }: Sold): Promise<string> {
  const { id, payment, price_usd } = await buyer.createOrder({
    ...{ service_id: serviceId, brief: 'As for the first shop, please.', client_wallet: wallet },
  } as never)
  const option = payment.find(({ network }) => network === NETWORK)
  const { tx } = await dev.control('/transfer', {
    ...{ network: NETWORK, from: wallet, to: option?.pay_to, amount_usd: price_usd },
  })
  await buyer.actOnOrder({ order_id: id, action: 'pay', escrow_tx_hash: tx } as never)
  await until(async () => (await buyer.getOrder({ order_id: id })).order.status).toBe('paid')
  return id
}

const deliver = ({ seller }: Sold, orderId: string) =>
  seller.deliverOrder({
    order_id: orderId,
    deliverables: [
      { type: 'text', content: 'Brown on cream, in two sizes.', title: 'How to use it' },
      { type: 'link', url: 'https://elsewhere.example/sheet', title: 'usage-sheet' },
    ],
  } as never)

/** Which wallets the identity provider confirms. */
const setWallets = (...wallets: readonly string[]) =>
  dev.control<{ readonly access_token: string }>('/idp/token', { email: EMAIL, wallets })

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`
  dev = await startDevMarket()
  wallet = await newWallet()
  buyer = new Market({ apiUrl: dev.api, token: (await setWallets(wallet)).access_token })
  await buyer.signIn()
  logo = await sell('Pixel Smith', 'Logo for a shop', '25.00')
  report = await sell('Word Counter', FORMULA, '0.50')
  context = await dev.browser.newContext({ viewport: { width: 1_280, height: 900 } })
  context.setDefaultTimeout(150_000)
  await context.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
  )
  page = await context.newPage()
  await page.goto(`${dev.web}/auth/login?return_to=/notifications`)
  await button(EMAIL).click()
  await page.getByRole('heading', { name: 'Nothing happened yet' }).waitFor()
  // Not of the page of the identity provider.
  page.on('console', (message) => {
    // The API says with 409 where the stream of events begins.
    const isStart = message.text().includes('409 (Conflict)')
    if (['error', 'warning'].includes(message.type()) && !isStart) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
})
afterAll(async () => {
  await context?.close()
  await dev?.stop()
  receiver.close()
  receiver.closeAllConnections()
})

/** Generous: a busy machine is slower, and must not make the test fail. */
const until = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 150_000 })

const MODES = [
  [360, 'dark'],
  [1_280, 'light'],
] as const

/** `SCREENSHOTS=1` leaves pictures in all four modes. */
const SHOWN = [...MODES, [360, 'light'], [1_280, 'dark']] as const

/** Whether the page is right in a small dark and a large light window. */
async function expectAccessible(name: string): Promise<void> {
  const isShown = process.env['SCREENSHOTS'] === '1'
  for (const [width, colorScheme] of isShown ? SHOWN : MODES) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (isShown)
      await page.screenshot({
        path: `.cache/screenshots/${name}-${width}-${colorScheme}.png`,
        fullPage: true,
      })
    expect({ name, width, overflow: await overflow(page) }).toEqual({ name, width, overflow: 0 })
    expect({ name, width, violations: await violations(page) }).toEqual({ name, width, violations: [] })
  }
}

/** What a button stores as a file. */
async function saved(name: string): Promise<{ readonly file: string; readonly text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), button(name).click()])
  return { file: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

test('a notification appears without a reload, leads to its order and is marked as read', async () => {
  const id = await order(logo)
  await deliver(logo, id)
  const delivered = page.getByRole('link', { name: /Not read: .*Logo for a shop/ }).first()
  await delivered.waitFor()
  await page.getByRole('link', { name: /^Notifications \d+ unread/ }).waitFor()
  await expectAccessible('notifications')
  await delivered.click()
  await page.getByRole('heading', { name: 'Is this what you ordered?' }).waitFor()
  await page.goBack()
  await until(async () => (await buyer.listNotifications({})).data.some(({ read }) => read)).toBe(true)
  if ((await buyer.listNotifications({})).unread_count > 0) await button(/^Mark all/).click()
  await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
  expect((await buyer.listNotifications({})).unread_count).toBe(0)
  await buyer.actOnOrder({ order_id: id, action: 'approve' })
  expect(problems).toEqual([])
})

test('spending: sums by month and seller, and a CSV without formulas', async () => {
  await order(report)
  await page.goto(`${dev.web}/orders`)
  await page.getByRole('main').getByRole('link', { name: 'Spending' }).click()
  const bySeller = page.locator('section', { has: page.getByRole('heading', { name: 'By seller' }) })
  await bySeller.getByText('Pixel Smith').waitFor()
  const rows = (await bySeller.getByRole('row').allInnerTexts()).map((text) => text.split(/\s*\t\s*|\n+/))
  expect(rows.slice(1).map((cells) => cells.slice(-5))).toEqual([
    ['1', '25.00', '0.00', '0.00', '25.00'],
    ['1', '0.00', '0.50', '0.00', '0.50'],
  ])
  const month = new Date((await buyer.listOrders({})).data[0]?.paid_at ?? 0).toISOString().slice(0, 7)
  await expectAccessible('spending')
  const { file, text } = await saved('Download CSV')
  expect(file).toBe('spending.csv')
  const lines = text.trimEnd().split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toContain(`"'${FORMULA.replaceAll('"', '""')}"`)
  expect(lines[1]?.startsWith(`"${month}"`)).toBe(true)
  expect(lines[2]).toContain('"25.00","25.00","0.00","0.00"')
  expect(problems).toEqual([])
})

test('a receipt: verified by the browser, printed on one page, and refused when a byte was changed', async () => {
  const [{ id } = { id: '' }] = (await buyer.listOrders({ status: 'completed' })).data
  await until(async () => (await buyer.getReceipt({ order_id: id })).receipt.final).toBe(true)
  await page.goto(`${dev.web}/orders/${id}`)
  await page.getByRole('link', { name: 'Receipt' }).click()
  await page.getByText('Verified by this browser').waitFor()
  await expectAccessible('receipt')

  const { file, text } = await saved('Download the receipt')
  expect(file).toBe(`receipt-${id}.jws`)
  const { keys } = (await (await fetch(`${dev.web}/.well-known/jwks.json`)).json()) as { keys: unknown[] }
  const receipt = await verifyReceipt(text.trim(), { keys, issuer: dev.web })
  expect([receipt.sub, receipt.amounts.agent_usd]).toEqual([id, '22.50'])

  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.topbar').isVisible()).toBe(false)
  expect(await page.locator('.site-foot').isVisible()).toBe(false)
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
  if (process.env['SCREENSHOTS'] === '1')
    await page.screenshot({ path: '.cache/screenshots/receipt-print.png', fullPage: true })
  const paper = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  expect(paper.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  await page.emulateMedia({ media: 'screen' })

  const path = `**/api/orders/${id}/receipt`
  const [head, claims = '', signature] = text.trim().split('.')
  const changed = claims.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'))
  const data = { jws: [head, changed, signature].join('.'), receipt }
  await page.route(path, (route) => route.fulfill({ json: { success: true, data } }))
  await page.reload()
  await page.getByText('This is not a receipt of the market').waitFor()
  expect(await page.getByText('Pixel Smith').count()).toBe(0)
  await page.unroute(path)
  expect(problems).toEqual([])
})

test('the profile: wallets of the provider, a connected program, the export and the deletion', async () => {
  await page.goto(`${dev.web}/profile`)
  await page.getByText(wallet).waitFor()
  const other = await newWallet()
  await setWallets(wallet, other)
  await button('Read them again').click()
  await page.getByText(other).waitFor()
  await setWallets(wallet)
  await button('Read them again').click()
  await page.getByText(other).waitFor({ state: 'detached' })

  await page.getByLabel('Name', { exact: true }).fill('Ana of the bakery')
  await button('Save').click()
  await page.getByText('Saved.').waitFor()
  expect((await buyer.getProfile()).user.display_name).toBe('Ana of the bakery')
  await expectAccessible('profile')

  expect(problems).toEqual([])

  const program = await registerProgram(dev.web, { client_name: 'Assistant', redirect_uris: [callback] })
  await page.goto(program.authorizeUrl({ redirect_uri: callback }).href)
  await button('Allow').click()
  await page.waitForURL(`${callback}?**`)
  await page.goto(`${dev.web}/profile`)
  await page.getByRole('link', { name: 'See and end connections' }).click()
  await button('End the connection of Assistant').click()
  await page.getByText('No program is connected to your account.').waitFor()

  await page.goto(`${dev.web}/profile`)
  const { file, text } = await saved('Export your data')
  expect(file).toBe('my-data.json')
  const data = JSON.parse(text)
  expect(data.account.user.display_name).toBe('Ana of the bakery')
  expect(data.orders).toHaveLength(2)
  expect(text).toContain('Brown on cream, in two sizes.')

  await button(/^Delete your account/).click()
  await page.getByLabel(/^To go on, type/).fill('delete my account')
  await button('Delete the account').click()
  await page.getByText('open order').waitFor()
  await page.getByRole('dialog').getByRole('link', { name: 'See your orders' }).waitFor()
  await expectAccessible('delete')
  const [{ id } = { id: '' }] = (await buyer.listOrders({ status: 'paid' })).data
  await deliver(report, id)
  await buyer.actOnOrder({ order_id: id, action: 'approve' })
  await until(async () => (await buyer.getOrder({ order_id: id })).order.status).toBe('completed')
  await button('Delete the account').click()
  await page.getByRole('heading', { name: 'Your account was deleted' }).waitFor()
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor()
  expect(problems.filter((one) => one.startsWith('policy'))).toEqual([])
})
