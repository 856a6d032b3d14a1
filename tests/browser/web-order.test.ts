import type { Page } from 'playwright-core'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PIXEL } from '../support/injected-wallets.ts'
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
import { installEvmWallet, installSolanaWallet } from './page-wallet.ts'

/** A whole order in a browser by a buyer who signs in with a wallet, and by one with an account. */

let dev: DevMarket
let shop: Shop

beforeAll(async () => {
  dev = await startDevMarket({ solana: true })
  shop = await openShop(dev)
})
afterAll(() => dev?.stop())

const installBaseWallet = (context: Parameters<typeof installEvmWallet>[0]) =>
  installEvmWallet(context, { rpc: dev.base.rpc, chainId: 8_453 })

async function deliver(order_id: string, note = ''): Promise<void> {
  const file = new File([Buffer.from(PIXEL, 'base64')], 'logo.png')
  const picture = await shop.seller.uploadFile({ file } as never)
  const deliverables = [
    { type: 'image', url: picture.id, title: 'logo-colour.png' },
    { type: 'code', content: '{ "brand": "#5b3a29" }', title: 'colours.json' },
    { type: 'link', url: 'https://elsewhere.example/sheet', title: 'usage-sheet' },
  ]
  await shop.seller.deliverOrder({ order_id, deliverables, ...(note !== '' && { note }) } as never)
}

/** The picture is loaded, not only its place. */
async function expectFile(page: Page, name: string): Promise<void> {
  const picture = page.getByRole('img', { name }).first()
  await picture.waitFor()
  const width = () => picture.evaluate((one: { naturalWidth: number }) => one.naturalWidth)
  await until(`${name} is loaded`, async () => (await width()) === 1)
}

test('a buyer with a wallet signs in, orders, pays, writes, asks for a revision, approves and reviews', async () => {
  const context = await newContext(dev)
  const wallet = await installBaseWallet(context)
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, usdc: '100', native: '1' })
  const { page, problems, button } = await openPage(context)

  await page.goto(dev.web + shop.service.path)
  await page.getByRole('main').getByRole('link', { name: 'Order' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  wallet.rejectsNext = true
  await button(/Test wallet/).click()
  await page.getByText('You rejected the request in the wallet.').waitFor()
  await expectAccessible(page, 'sign-in')
  await button(/Test wallet/).click()
  await page.waitForURL(`${dev.web}${shop.service.path}/order`)
  expect(wallet.prompts.splice(0)).toEqual(['connect', 'connect', 'sessions.start'])

  await page.getByLabel(QUESTION).fill('Sourdough bread and cakes')
  await page.getByLabel(/What is to be done/).fill('Name is Korn & Krume. One colour must work too.')
  await expectAccessible(page, 'order-form')
  await button('Order for 25.00 USDC').click()
  await page.waitForURL(/\/orders\/ord_/)
  const orderId = page.url().split('/').at(-1) ?? ''
  await page.getByRole('heading', { name: 'Pay 25.00 USDC' }).waitFor()
  await expectAccessible(page, 'order-quoted')
  await button(/^Pay 25.00/).click()
  await button('Switch to Base and pay').waitFor()
  await expectAccessible(page, 'pay')
  await page.getByLabel(/Another device/).check()
  await page.getByRole('radio', { name: /^Base/ }).check()
  const payTo = (await page.getByText(/^0x[0-9a-fA-F]{40}$/).textContent()) as Hex
  const hash = await wallet.send(dev.base.usdc as Hex, payTo, 25_000_000n)
  await page.getByLabel('Hash of your transfer').fill(hash)
  // The tab is closed after the transfer, before the API knows it.
  const named = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.route('**/api/orders/*', (route) =>
    route.request().method() === 'PATCH' ? undefined : route.continue(),
  )
  await button('I have sent it').click()
  await named
  await page.reload()
  await page.getByText('Do not pay again').waitFor()
  expect(wallet.prompts.splice(0)).toEqual(['orders.create', 'orders.pay'])
  await expectAccessible(page, 'order-sent')
  // Only now: it would send what it held.
  await page.unroute('**/api/orders/*')
  await button('Name it again').click()
  await page.getByRole('heading', { name: 'Pixel Smith was told to start' }).waitFor()

  await page.getByLabel('Message to Pixel Smith').fill('Will the small one work as a stamp?')
  await button('Send').click()
  await page.getByText('Will the small one work as a stamp?', { exact: true }).waitFor()

  await deliver(orderId, 'The first one.')
  // Live, without a reload.
  await page.getByRole('heading', { name: 'Is this what you ordered?' }).waitFor()
  await button(/Request a revision/).click()
  await page.getByLabel('What to change').fill('Please thicken the strokes.')
  await button('Request the revision').click()
  await page.getByRole('heading', { name: 'Pixel Smith is changing it' }).waitFor()
  await deliver(orderId, 'Thicker strokes.')
  await page.getByRole('heading', { name: 'Is this what you ordered?' }).waitFor()
  await expectFile(page, 'logo-colour.png')
  await expectAccessible(page, 'order-delivered')

  const approve = button(/^Approve and release 25.00/)
  await approve.click()
  await page.keyboard.press('Escape')
  await expect
    .poll(() => page.evaluate('document.activeElement.textContent'))
    .toContain('Approve and release')
  // The browser closes it before the page knows: a click in between would not open it again.
  await page.locator('dialog').waitFor({ state: 'detached' })
  await approve.click()
  await button('Release 25.00').click()
  await page.getByRole('heading', { name: 'How was it?' }).waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H2')
  await button(/^Write a review/).click()
  await page.getByLabel('Your review').fill('Usable at the first try.')
  await button('Publish the review').click()
  await page.getByText('Usable at the first try.').waitFor()
  await expectAccessible(page, 'order-completed')
  await page.getByRole('link', { name: 'Your orders' }).first().click()
  await page.getByText('Logo for a shop').waitFor()
  await expectAccessible(page, 'orders')
  const acts = ['pay', 'message', 'revision', 'approve', 'review'].map((act) => `orders.${act}`)
  expect(wallet.prompts).toEqual(acts)
  expect(problems).toEqual([])
  await context.close()
})

test('a buyer with an account orders and pays by one signature, without a coin for gas', async () => {
  const context = await newContext(dev)
  const wallet = await installBaseWallet(context)
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, usdc: '25' })
  await signInAs(dev, context, 'buyer@example.com')
  const opened = await openPage(context)
  const { page, problems, button } = opened

  await page.goto(`${dev.web}${shop.service.path}/order`)
  await order(opened, 'Bread', 'As last time.')
  await button(/^Pay 25.00/).click()
  wallet.rejectsNext = true
  await button('Pay with Test wallet').click()
  await page.getByText('You rejected the request in the wallet.').waitFor()
  await button('Pay with Test wallet').click()
  await page.getByRole('heading', { name: 'Pixel Smith was told to start' }).waitFor()
  expect(wallet.prompts).toEqual(['connect', 'connect', 'switch', 'payment'])
  expect(problems).toEqual([])
  await context.close()
})

const WALLETS = {
  'solana-mainnet': {
    label: 'Solana',
    chainId: undefined,
    prompts: ['connect', 'sessions.start', 'orders.create', 'payment', 'orders.pay', 'orders.approve'],
  },
  'alt-mainnet': {
    label: 'Alt EVM',
    chainId: 42_161,
    prompts: [
      ...['connect', 'sessions.start', 'orders.create', 'add', 'switch', 'payment'],
      ...['orders.pay', 'orders.approve'],
    ],
  },
} as const

test.each([
  ['a Wallet Standard wallet on Solana', 'solana-mainnet'],
  ['an EIP-6963 wallet that does not know the third network', 'alt-mainnet'],
] as const)(
  '%s orders, pays by one signature, gets the files and approves; the payout becomes final',
  async (_, network) => {
    const context = await newContext(dev)
    const { label, chainId, prompts } = WALLETS[network]
    const { rpc = '' } = dev.networks[network] ?? {}
    const wallet =
      chainId === undefined
        ? await installSolanaWallet(context)
        : await installEvmWallet(context, { rpc, chainId })
    await dev.control('/fund', { network, address: wallet.address, usdc: '40' })
    const opened = await openPage(context)
    const { page, problems, button, heading } = opened
    await page.goto(`${dev.web}/sign-in?return_to=${encodeURIComponent(`${shop.service.path}/order`)}`)
    await button(/Test wallet/).click()
    await page.waitForURL(`${dev.web}${shop.service.path}/order`)
    const id = await order(opened, 'Bread', 'One colour must work too.')
    await button(/^Pay 25.00/).click()
    await page.getByRole('radio', { name: new RegExp(`^${label}`) }).check()
    if (chainId === undefined) await page.getByText(`Test wallet has 40.00 USDC on ${label}.`).waitFor()
    await button(chainId === undefined ? 'Pay with Test wallet' : `Switch to ${label} and pay`).click()
    await heading('Pixel Smith was told to start')
    await deliver(id)
    await heading('Is this what you ordered?')
    await expectFile(page, 'logo-colour.png')
    await button(/^Approve and release 25.00/).click()
    await button('Release 25.00').click()
    await heading('How was it?')
    const isFinal = async () => (await shop.seller.getOrder({ order_id: id })).agent_paid
    await until('the payout is final', isFinal, { withinMs: 300_000, everyMs: 1_000 })
    await page.getByText('Pixel Smith was paid.').waitFor()
    expect(wallet.prompts).toEqual(prompts)
    expect(problems).toEqual([])
    await context.close()
  },
)
