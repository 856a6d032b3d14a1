import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import type { Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevMarket, startDevMarket } from './dev-market.ts'

/** The code of each tab of a service, copied in a browser from `npm run dev`, and run: it buys. */

const run = promisify(execFile)
const NETWORK = 'base-mainnet'
const DUE = '0.55'

let dev: DevMarket
let page: Page
let folder: string

beforeAll(async () => {
  // Below the checkout, so that the programs find the packages.
  folder = mkdtempSync(join('.cache', 'web-purchase-'))
  dev = await startDevMarket()
  const context = await dev.browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  context.setDefaultTimeout(150_000)
  page = await context.newPage()
  await page.goto(`${dev.web}/?search=statistics`)
  await page.getByRole('link', { name: 'Statistics of a text' }).first().click()
  await page.waitForURL(/\/s\/text-analyst\/statistics-of-a-text/)
})
afterAll(async () => {
  await dev?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A transfer of what the page says that the service costs. */
const transfer = async () =>
  (
    await dev.control('/transfer', {
      network: NETWORK,
      to: dev.base.treasury,
      amount_usd: DUE,
    })
  ).tx

/** What a visitor has in the clipboard after the copy button of a tab. */
async function copied(tab: string, id: string): Promise<string> {
  await page.locator('.tabs label', { hasText: tab }).click()
  const button = page.locator(`.p-${id} button`)
  await expect
    .poll(
      async () => {
        await page.evaluate("navigator.clipboard.writeText('')")
        await button.click()
        return page.evaluate('navigator.clipboard.readText()')
      },
      { timeout: 150_000 },
    )
    .not.toBe('')
  return String(await page.evaluate('navigator.clipboard.readText()'))
}

test('a user signs in on the origin of the pages, and returns to the page', async () => {
  const own = await dev.browser.newContext()
  own.setDefaultTimeout(150_000)
  const visitor = await own.newPage()
  await visitor.goto(`${dev.web}/auth/login?return_to=/fees`)
  await visitor.locator('button').first().click()
  await visitor.waitForURL(`${dev.web}/fees`)
  expect(await visitor.evaluate("fetch('/api/me').then((response) => response.status)")).toBe(200)
  await own.close()
})

let bought: Promise<string> | undefined
/** What the copied commands print. Two tests look at the same purchase. */
const buyByCurl = (): Promise<string> => {
  bought ??= (async () => {
    const code = await copied('curl', 'curl')
    const env = { ...process.env, TX: await transfer() }
    return (await run('bash', ['-c', code], { env })).stdout
  })()
  return bought
}

test('curl: the copied commands return the price, then buy', async () => {
  const printed = await buyByCurl()
  expect(printed).toContain('"maxAmountRequired":"550000"')
  expect(printed).toContain('"status_url"')
})

test('Python: the copied program buys with the standard library', async () => {
  const file = join(folder, 'hire.py')
  writeFileSync(file, await copied('Python', 'python'))
  const { stdout } = await run('python3', ['-I', file], {
    env: { PATH: process.env['PATH'], TX: await transfer() },
  })
  expect(stdout).toContain("'status_url'")
})

test('TypeScript: the copied program signs the payment and prints the delivery', async () => {
  const key = generatePrivateKey()
  await dev.control('/fund', { network: NETWORK, address: privateKeyToAddress(key), usdc: '5.00' })
  const file = join(folder, 'hire.ts')
  writeFileSync(file, await copied('TypeScript', 'sdk'))
  const { stdout } = await run(process.execPath, [file], { env: { ...process.env, PAYER_KEY: key } })
  expect(stdout).toContain('Words:')
})

test('MCP: the official client connects to the copied address and hires', async () => {
  const { mcpServers } = JSON.parse(await copied('MCP', 'mcp')) as {
    readonly mcpServers: Readonly<Record<string, { readonly url: string }>>
  }
  const service_id = /svc_\w+/.exec(await page.locator('.p-mcp').innerText())?.[0]
  const { private_key } = await dev.control<{ private_key: `0x${string}` }>('/wallets', {
    network: NETWORK,
    usdc: '1',
  })
  const wallet = new x402Client().register(
    'eip155:8453',
    new ExactEvmScheme(privateKeyToAccount(private_key)),
  )
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpServers['agent-market']?.url ?? '')))
  const order = { service_id, brief: 'Count the words of this text.', chain: 'base' }
  const quote = await client.callTool({ name: 'hire_agent', arguments: order })
  const payment = await wallet.createPaymentPayload(
    quote.structuredContent as unknown as Parameters<typeof wallet.createPaymentPayload>[0],
  )
  const hired = await client.callTool({
    name: 'hire_agent',
    arguments: order,
    _meta: { 'x402/payment': payment },
  })
  await client.close()
  expect(hired.isError).not.toBe(true)
  expect(JSON.stringify(hired)).toContain('status_url')
})

test('a browser that opens the status_url of a purchase gets its page, a program gets JSON', async () => {
  const [, url = ''] = /"status_url":"([^"]+)"/.exec(await buyByCurl()) ?? []
  const get = (accept: string) => fetch(url, { headers: { accept }, redirect: 'manual' })
  const program = await get('application/json')
  expect([program.status, program.headers.get('vary')]).toEqual([200, expect.stringContaining('Accept')])
  const led = await get('text/html,application/xhtml+xml')
  expect(led.status).toBe(303)
  expect(led.headers.get('cache-control')).toBe('no-store')
  expect(led.headers.get('referrer-policy')).toBe('no-referrer')
  expect(led.headers.get('vary')).toContain('Accept')
  const response = await page.goto(url)
  expect(page.url()).toMatch(/\/o\/ord_\w+\?t=/)
  expect(response?.headers()).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  })
  await page.getByRole('heading', { name: 'Statistics of a text' }).waitFor()
  await page.getByText('What you need, in 10 to 3,000 characters.').waitFor()
})
