import { setTimeout as wait } from 'node:timers/promises'
import type { Market } from '@market/sdk'
import type { Page } from 'playwright-core'
import { createPublicClient, erc20Abi, formatUnits, type Hex, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type DevMarket, startDevMarket } from './dev-market.ts'
import {
  expectAccessible,
  newContext,
  openPage,
  openShop,
  order,
  QUESTION,
  type Shop,
  signInAs,
} from './order-steps.ts'
import { isFocused, tabTo } from './page-checks.ts'
import { installEvmWallet } from './page-wallet.ts'

/** Payments in a browser that meet something in their way: each order is paid once, and its page shows its state by itself. */

const HOUR = 3_600

let dev: DevMarket
let shop: Shop
beforeAll(async () => {
  dev = await startDevMarket()
  shop = await openShop(dev)
})
afterAll(() => dev?.stop())

const rpc = async (method: string, params: readonly unknown[]) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  await fetch(dev.base.rpc, { method: 'POST', headers, body })
}
const makeBlocks = (on: boolean) => dev.control('/blocks', { network: 'base-mainnet', on })

async function usdcOf(address: string): Promise<string> {
  const client = createPublicClient({ transport: http(dev.base.rpc) })
  const call = { address: dev.base.usdc as Hex, abi: erc20Abi, functionName: 'balanceOf' } as const
  return formatUnits(await client.readContract({ ...call, args: [address as Hex] }), 6)
}

let buyers = 0

/** A buyer with an account, whose wallet has USDC on Base. */
async function newBuyer(usdc: string) {
  const context = await newContext(dev)
  const wallet = await installEvmWallet(context, { rpc: dev.base.rpc, chainId: 8_453 })
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, usdc })
  buyers += 1
  await signInAs(dev, context, `buyer-${buyers}@example.com`)
  const opened = await openPage(context)
  const { page, button, heading } = opened
  return {
    ...opened,
    context,
    wallet,
    begin: async (path = shop.service.path) => {
      await page.goto(`${dev.web}${path}/order`)
      return order(opened, 'Bread', 'One colour must work too.')
    },
    /** Opens the dialog and has the wallet sign. */
    pay: async () => {
      await button(/^Pay 25.00/).click()
      await button('Pay with Test wallet').click()
    },
    isPaid: () => heading('Pixel Smith was told to start'),
  }
}

/** Notices a reload: the page loses what is written here. */
const mark = (page: Page) => page.evaluate('window.isMarked = true')
const isMarked = (page: Page) => page.evaluate('window.isMarked === true')

const deliver = (seller: Market, order_id: string) =>
  seller.deliverOrder({ order_id, deliverables: [{ type: 'text', content: 'A logo' }] } as never)

test('a purchase by the keyboard alone: the focus is visible, and returns after the dialog', async () => {
  const { page, problems, wallet, context } = await newBuyer('25')
  /** Goes to a control, which shows that it has the focus. */
  const reach = async (selector: string) => {
    await tabTo(page, selector)
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect([selector, outline]).not.toEqual([selector, 'none'])
  }
  await page.goto(dev.web + shop.service.path)
  await reach('main a[href$="/order"]')
  await page.keyboard.press('Enter')
  await page.getByLabel(QUESTION).waitFor()
  await reach('form input[required]')
  await page.keyboard.type('Bread')
  await reach('form textarea[name="brief"]')
  await page.keyboard.type('One colour must work too.')
  await reach('form button[type="submit"]')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/orders\/ord_/)
  await page.getByRole('heading', { name: 'Pay 25.00 USDC' }).waitFor()
  const payButton = '.act button.primary'
  await reach(payButton)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  expect(await isFocused(page, 'dialog, dialog *')).toBe(true)
  await page.keyboard.press('Escape')
  await until('the button has the focus again', () => isFocused(page, payButton))
  // The browser closes it before the page knows: a key in between would not open it again.
  await page.locator('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  // It is disabled until the balance of the wallet is read, and cannot be reached before.
  await page.locator('dialog .dfoot button.primary:enabled').waitFor()
  await reach('dialog .dfoot button.primary')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Pixel Smith was told to start' }).waitFor()
  await until('what is asked next has the focus', () => isFocused(page, '.act h2'))
  expect(wallet.prompts).toEqual(['connect', 'switch', 'payment'])
  expect(problems).toEqual([])
  await context.close()
})

test('too little USDC: nothing is signed, the dialog names the account, and follows when money comes', async () => {
  const { page, problems, button, wallet, context, begin, pay, isPaid } = await newBuyer('5')
  await begin()
  await pay()
  await page.getByText('Test wallet has 5.00 USDC on Base: 20.00 USDC are missing.').waitFor()
  await page.getByText(wallet.address, { exact: true }).waitFor()
  expect(wallet.prompts).toEqual(['connect', 'switch'])
  await expectAccessible(page, 'pay-too-little')
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, usdc: '20' })
  await button('Pay with Test wallet').click()
  await isPaid()
  expect(wallet.prompts).toEqual(['connect', 'switch', 'payment'])
  expect([await usdcOf(wallet.address), problems]).toEqual(['0', []])
  await context.close()
})

test('the tab is closed between the signature and the request: the page sends the same payment again', async () => {
  const { page, wallet, context, begin, pay, isPaid } = await newBuyer('50')
  await begin()
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.route('**/api/orders/*', (route) =>
    route.request().method() === 'PATCH' ? undefined : route.continue(),
  )
  await pay()
  await sent
  await page.reload()
  await page.getByText('You have signed a payment for this order. Do not pay again.').waitFor()
  await expectAccessible(page, 'order-signed')
  expect(await page.getByRole('button', { name: /^Pay 25.00/ }).count()).toBe(0)
  await page.unroute('**/api/orders/*')
  await page.reload()
  await isPaid()
  expect(wallet.prompts).toEqual(['connect', 'switch', 'payment'])
  expect(await usdcOf(wallet.address)).toBe('25')
  await context.close()
})

test('reorganization: the page goes back to no block and on to paid without a reload, and one payment is made', async () => {
  const { page, wallet, context, begin, pay, isPaid } = await newBuyer('50')
  await begin()
  await mark(page)
  await makeBlocks(false)
  await pay()
  await page.getByText('The transfer is named, and no block has it yet').waitFor()
  expect(await page.getByRole('button', { name: /^Pay 25.00/ }).count()).toBe(0)
  await rpc('anvil_mine', ['0x1'])
  await page.getByText('1 of 2 confirmations').first().waitFor()
  await rpc('anvil_reorg', [1, []])
  await page.getByText('The transfer is named, and no block has it yet').waitFor()
  await makeBlocks(true)
  await isPaid()
  expect([await isMarked(page), wallet.prompts]).toEqual([true, ['connect', 'switch', 'payment']])
  expect(await usdcOf(wallet.address)).toBe('25')
  await context.close()
})

test('worker and api are killed while the payment is on its way: one payment, and the page follows without a reload', async () => {
  const { page, wallet, context, begin, pay, isPaid, heading } = await newBuyer('50')
  const id = await begin()
  await mark(page)
  await makeBlocks(false)
  await pay()
  await page.getByText('The transfer is named, and no block has it yet').waitFor()
  await dev.control('/programs/kill', { program: 'worker' })
  await dev.control('/programs/kill', { program: 'api' })
  await makeBlocks(true)
  await isPaid()
  await deliver(shop.seller, id)
  await heading('Is this what you ordered?')
  expect([await isMarked(page), wallet.prompts]).toEqual([true, ['connect', 'switch', 'payment']])
  expect(await usdcOf(wallet.address)).toBe('25')
  await context.close()
})

/** Buys by x402 with a transfer that anyone can name. */
async function hire(serviceId: string, transfer: string, brief: string) {
  const headers = { 'content-type': 'application/json', 'x-payment': transfer }
  const url = `${dev.api}/api/x402/pay?service_id=${serviceId}`
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ brief }) })
  const body = (await response.json()) as { readonly code?: string; readonly data?: { status_url: string } }
  return { status: response.status, body }
}

test('a contested payment: the wallet that paid signs on the page of the order, and the contest ends', async () => {
  const { page, wallet, context } = await newBuyer('27.5')
  const { id } = await shop.addService({ requirement_fields: [] })
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, native: '1' })
  const transfer = await wallet.send(dev.base.usdc as Hex, dev.base.treasury as Hex, 27_500_000n)
  const name = (brief: string) => hire(id, transfer, brief)
  const brief = 'Name is Korn & Krume.'
  let statusUrl = ''
  // The transfer needs a block on top of it. The first response alone has the access token.
  await until(
    'it is bought',
    async () => {
      const { status, body } = await name(brief)
      statusUrl = body.data?.status_url ?? ''
      return status !== 402
    },
    { everyMs: 500 },
  )
  expect(await name('Something else.')).toMatchObject({ status: 409, body: { code: 'payment_contested' } })
  await page.goto(statusUrl)
  await page.getByText('Another request named the same transfer').waitFor()
  await expectAccessible(page, 'purchase-contested')
  await page.getByRole('button', { name: 'Sign with Test wallet' }).click()
  await page.getByText('Another request named').first().waitFor({ state: 'detached' })
  expect(wallet.prompts).toEqual(['connect', 'x402.pay'])
  await context.close()
})

// The clock never goes back, so tests that advance it are last.
test('48 hours after the delivery the page shows by itself that it is approved', async () => {
  const { page, problems, context, begin, pay, isPaid, heading } = await newBuyer('25')
  const id = await begin()
  await mark(page)
  await pay()
  await isPaid()
  await deliver(shop.seller, id)
  await heading('Is this what you ordered?')
  await dev.control('/clock/advance', { seconds: 49 * HOUR })
  await heading('How was it?')
  expect([await isMarked(page), problems]).toEqual([true, []])
  await context.close()
})

test('the agent asks another price while the dialog is open: nothing is charged, and the new price is shown', async () => {
  const { seller } = shop
  const quoting = await shop.addService({ price_type: 'quote', price_usd: undefined })
  const { page, button, wallet, context, begin, heading } = await newBuyer('50')
  const order_id = await begin(quoting.path)
  await seller.quoteOrder({ order_id, price_usd: '25.00', expires_in_hours: 1 } as never)
  await heading('Pay 25.00 USDC')
  await button(/^Pay 25.00/).click()
  // Nothing tells this page of the new price until its user asks for it.
  let isHeld = true
  await page.route('**/api/orders/*', async (route) => {
    while (isHeld && route.request().method() === 'GET') await wait(50)
    // The page may have given the request up.
    await route.continue().catch(() => undefined)
  })
  await dev.control('/clock/advance', { seconds: 2 * HOUR })
  await seller.quoteOrder({ order_id, price_usd: '30.00', expires_in_hours: 72 } as never)
  await button('Pay with Test wallet').click()
  await page.getByText('signed for 25.00 USDC but 30.00 USDC is due').waitFor()
  await expectAccessible(page, 'pay-price-changed')
  await button('Show the new price').click()
  isHeld = false
  await page.getByRole('heading', { name: 'Pay 30.00 USDC into escrow' }).waitFor()
  expect(await usdcOf(wallet.address)).toBe('50')
  await button('Pay with Test wallet').click()
  await heading('Pixel Smith was told to start')
  expect(wallet.prompts).toEqual(['connect', 'switch', 'payment', 'payment'])
  expect(await usdcOf(wallet.address)).toBe('20')
  await context.close()
})
