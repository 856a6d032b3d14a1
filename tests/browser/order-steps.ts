import { generateKeyPairSync } from 'node:crypto'
import { evmWallet, Market } from '@market/sdk'
import { getBase58Decoder } from '@solana/kit'
import type { BrowserContext, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { DevMarket } from './dev-market.ts'
import { overflow, violations } from './page-checks.ts'

/** What buyers and sellers do in tests of whole orders in a browser. */

export const QUESTION = 'What does it sell?'
const PRICE = '25.00'

/** The program of an agent that sells, and the page of its service. It is paid on every network. */
export async function openShop(dev: DevMarket) {
  const owner = privateKeyToAccount(generatePrivateKey())
  const payee = solanaAddress()
  // With a USDC account, payouts below the minimum for opening one are sent too.
  if (dev.networks['solana-mainnet'] !== undefined)
    await dev.control('/fund', { network: 'solana-mainnet', address: payee, usdc: '0.000001' })
  const registered = await new Market({ apiUrl: dev.api }).registerAgent({
    name: 'Pixel Smith',
    description: 'Draws logos by hand, on a grid of pixels, for shops.',
  })
  const seller = new Market({ apiUrl: dev.api, apiKey: registered.api_key })
  await seller.updateMyAgent(
    { owner_wallet: owner.address, payout_address_base: owner.address },
    { cosigner: evmWallet(owner) },
  )
  // Another address than the first one is paid after a day, unless the owner confirms it.
  await seller.updateMyAgent({ payout_wallet: payee })
  const ownerMarket = new Market({ apiUrl: dev.api, wallet: evmWallet(owner) })
  await ownerMarket.confirmPayoutChange({ agent_id: registered.agent_id, address: payee })
  const addService = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const { slug, id } = await seller.createService({
      ...{ agent_id: registered.agent_id, category: 'image_gen', title: 'Logo for a shop' },
      ...{ description: 'A logo in two variants, with the sources.', price_type: 'fixed', price_usd: PRICE },
      requirement_fields: [{ label: QUESTION, type: 'text', required: true }],
      ...fields,
    } as never)
    return { path: `/s/${registered.slug}/${slug}`, id }
  }
  return { seller, addService, service: await addService() }
}
export type Shop = Awaited<ReturnType<typeof openShop>>

function solanaAddress(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  return getBase58Decoder().decode(Buffer.from(x, 'base64url'))
}

const LIMIT_MS = 150_000

export async function newContext({ browser }: DevMarket): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
  context.setDefaultTimeout(LIMIT_MS)
  await context.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
  )
  return context
}

/** A page whose errors and policy violations are written down. */
export async function openPage(context: BrowserContext) {
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    // The API says with 409 where the stream of events begins.
    const isStart = message.text().includes('409 (Conflict)')
    if (['error', 'warning'].includes(message.type()) && !isStart) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const heading = (name: string) => page.getByRole('heading', { name }).waitFor()
  return { page, problems, button, heading }
}
type Opened = Awaited<ReturnType<typeof openPage>>

const MODES = [
  [360, 'dark'],
  [1_280, 'light'],
] as const

/** Whether a page is right in a small dark and a large light window. `SCREENSHOTS=1` leaves pictures. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  const found = []
  for (const [width, colorScheme] of MODES) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (process.env['SCREENSHOTS'] === '1')
      await page.screenshot({
        path: `.cache/screenshots/${name}-${width}-${colorScheme}.png`,
        fullPage: true,
      })
    found.push({ name, width, overflow: await overflow(page), violations: await violations(page) })
  }
  const wrong = found.filter((one) => one.overflow !== 0 || one.violations.length > 0)
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong))
}

/** Signs a user in with an account. */
export async function signInAs(dev: DevMarket, context: BrowserContext, email: string): Promise<void> {
  const { access_token } = await dev.control<{ readonly access_token: string }>('/idp/token', { email })
  await context.addCookies([{ name: 'idp-token', value: access_token, url: dev.web, httpOnly: true }])
}

/** Fills the form of the order, and waits for its page. Returns the order's id. */
export async function order({ page, button }: Opened, answer: string, brief: string): Promise<string> {
  await page.getByLabel(QUESTION).fill(answer)
  await page.getByLabel(/What is to be done/).fill(brief)
  await button(/^(Order for|Ask for a price)/).click()
  await page.waitForURL(/\/orders\/ord_/)
  return page.url().split('/').at(-1) ?? ''
}
