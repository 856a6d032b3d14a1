import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { Market } from '@market/sdk'
import { type Browser, chromium, type Page } from 'playwright-core'
import { build } from 'rolldown'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeDist } from '../../scripts/pack.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { makeService } from '../support/services.ts'

/** The SDK in a page of another origin than the API, as `<script type="module">` loads it. */

const DUE = 11_000_000n

const startWorld = () => startMarket({ BASE_CONFIRMATIONS: '0:1' }, { chains: ['base-mainnet'], gas: true })

let market: Awaited<ReturnType<typeof startWorld>>
let agent: Awaited<ReturnType<typeof makeOwnedAgent>>
let serviceId: string
let browser: Browser
let page: Page
const folder = mkdtempSync(join(tmpdir(), 'sdk-page-'))
const loaded: string[] = []
const errors: string[] = []

/** Serves the built SDK and the accounts of viem, which a user bundles. */
const site = createServer((request, response) => {
  const file = join(folder, normalize(request.url ?? '/'))
  if (request.url === '/')
    return void response.setHeader('content-type', 'text/html').end('<title>Page</title>')
  if (!existsSync(file)) return void response.writeHead(404).end()
  loaded.push(request.url ?? '')
  response.setHeader('content-type', 'text/javascript').end(readFileSync(file))
})

beforeAll(async () => {
  site.listen(0, '127.0.0.1')
  await Promise.all([
    once(site, 'listening'),
    startWorld().then((started) => {
      market = started
    }),
    writeDist('sdk', join(folder, 'sdk')),
    build({
      input: { accounts: 'viem/accounts' },
      platform: 'browser',
      output: { dir: join(folder, 'viem'), format: 'esm', entryFileNames: '[name].mjs' },
    }),
  ])
  agent = await makeOwnedAgent(market as never)
  ;({ id: serviceId } = await makeService(market as never, agent, { price_usd: '10.00' }))
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const context = await browser.newContext()
  context.setDefaultTimeout(150_000)
  page = await context.newPage()
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
})
afterAll(async () => {
  await browser?.close()
  await market?.stop()
  site.close()
  site.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
  expect(errors).toEqual([])
})

/** Runs a function body in the page, with the SDK as `sdk`. */
const inPage = <Result>(body: string, values: object): Promise<Result> =>
  page.evaluate(
    `(async (values) => { const sdk = await import('/sdk/index.mjs'); ${body} })(${JSON.stringify(values)})`,
  )

test('lists services and reads the own agent with an API key, without the code of payments', async () => {
  const found = await inPage(
    `const market = new sdk.Market({ apiUrl: values.url, apiKey: values.apiKey })
     const ids = []
     for await (const service of market.browseServices()) ids.push(service.id)
     return { ids, me: (await market.getMyAgent()).id }`,
    { url: market.url, apiKey: agent.apiKey },
  )
  expect(found).toEqual({ ids: [serviceId], me: agent.id })
  expect(loaded.filter((path) => path.includes('pay-'))).toEqual([])
})

test('an error response is a MarketError with the code and the request id', async () => {
  const error = await inPage(
    `try { await new sdk.Market({ apiUrl: values.url }).getMyAgent() } catch (error) {
       return { isMarketError: error instanceof sdk.MarketError, status: error.status, code: error.code, id: error.requestId }
     }`,
    { url: market.url },
  )
  expect(error).toEqual({
    isMarketError: true,
    status: 401,
    code: expect.any(String),
    id: expect.any(String),
  })
})

test('signs with wallets of both chains', async () => {
  const counts = await inPage(
    `const { generatePrivateKey, privateKeyToAccount } = await import('/viem/accounts.mjs')
     const keys = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])
     const wallets = [sdk.evmWallet(privateKeyToAccount(generatePrivateKey())), await sdk.solanaWallet(keys)]
     return Promise.all(wallets.map(async (wallet) =>
       (await new sdk.Market({ apiUrl: values.url, site: 'https://market.test', wallet }).listOrders()).data.length))`,
    { url: market.url },
  )
  expect(counts).toEqual([0, 0])
})

test('verifies the signature of a webhook and rejects another body', async () => {
  const { createHmac } = await import('node:crypto')
  const body = '{"event":"order.paid","order_id":"ord_1","data":{"status":"paid","service_title":"Ä"}}'
  const time = Math.round(Date.now() / 1_000)
  const signature = createHmac('sha256', 'secret').update(`${time}.${body}`).digest('hex')
  const results = await inPage(
    `const headers = { 'X-Market-Signature': values.signature }
     const verify = (body) => sdk.verifyWebhook({ body, headers, secret: 'secret' })
     return [(await verify(values.body)).data.service_title, await verify(values.body + ' ').catch((error) => error.reason)]`,
    { body, signature: `t=${time},v1=${signature}` },
  )
  expect(results).toEqual(['Ä', 'signature_wrong'])
})

test('hires by x402 with an account of viem', async () => {
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  const { chain } = market.chains['base-mainnet']
  await chain.mint(address, DUE)
  const ended = new AbortController()
  const selling = new Market({ apiUrl: market.url, apiKey: agent.apiKey }).sell({
    service: serviceId,
    work: ({ order }) => order.brief.toUpperCase(),
    signal: ended.signal,
  })
  const hired = await inPage(
    `const { privateKeyToAccount } = await import('/viem/accounts.mjs')
     const { order, deliverables } = await new sdk.Market({ apiUrl: values.url }).hire({
       service: values.serviceId, brief: 'From a page', payer: sdk.evmPayer(privateKeyToAccount(values.key)), maxUsd: '11' })
     return [order.status, deliverables[0].content]`,
    { url: market.url, serviceId, key },
  )
  ended.abort()
  await selling
  expect(hired).toEqual(['completed', 'FROM A PAGE'])
  expect(await chain.balanceOf(address)).toBe(0n)
  expect(loaded.filter((path) => /pay-(evm|solana)/.test(path))).toEqual([expect.stringContaining('pay-evm')])
})

test('follows the events of the agent that was hired', async () => {
  const names = await inPage(
    `const names = []
     for await (const event of new sdk.Market({ apiUrl: values.url, apiKey: values.apiKey }).events()) {
       names.push(event.event)
       if (event.event === 'order.completed') return names
     }`,
    { url: market.url, apiKey: agent.apiKey },
  )
  expect(names).toEqual(['order.created', 'order.completed'])
})
