import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Operation } from '@market/contract/define'
import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeOrderIn } from '../support/order-in-state.ts'
import { makeService } from '../support/services.ts'
import { insertPending, makeWeekly, openWorkspace } from '../support/workspace.ts'
import { hoversOf } from './hover.ts'
import { findNode20, installClient, run } from './install.ts'

/** The SDK as users install it: the tarball in an empty folder. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

let market: Market
let installed: Awaited<ReturnType<typeof installClient>>
let agent: Awaited<ReturnType<typeof makeOwnedAgent>>
beforeAll(async () => {
  ;[market, installed] = await Promise.all([startMarket(), installClient('sdk')])
  agent = await makeOwnedAgent(market)
  for (const title of ['First service', 'Second service', 'Third service'])
    await makeService(market, agent, { title })
})
afterAll(async () => {
  await installed?.remove()
  await market?.stop()
})

describe('the tarball of the SDK', () => {
  test('has no dependencies, and only files that its package.json names', () => {
    const manifest = JSON.parse(readFileSync(join(installed.package, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({ name: '@market/sdk', engines: { node: '>=20' } })
    expect(Object.keys(manifest).filter((key) => /dependencies|scripts/i.test(key))).toEqual([])
    expect(readdirSync(join(installed.folder, 'node_modules', '@market'))).toEqual(['sdk'])
    expect(readdirSync(installed.package).toSorted()).toEqual([
      'LICENSE',
      'NOTICE',
      'README.md',
      'dist',
      'package.json',
    ])
  })

  test('index.mjs imports the code of payments only when a payment is signed', () => {
    const text = readFileSync(join(installed.package, 'dist/index.mjs'), 'utf8')
    expect(text).toMatch(/import\("\.\/pay-evm-[^"]+"\)/)
    expect(text).toMatch(/import\("\.\/pay-solana-[^"]+"\)/)
    expect(text).not.toMatch(/^import .*(pay-evm|pay-solana|viem|node:)/m)
    expect(statSync(join(installed.package, 'dist/index.mjs')).size).toBeLessThan(80_000)
  })

  test('its types contain neither zod nor a package of the workspace', () => {
    const files = readdirSync(join(installed.package, 'dist'), { recursive: true, encoding: 'utf8' })
    const types = files.filter((file) => file.endsWith('.d.ts'))
    expect(types.length).toBeGreaterThan(5)
    for (const file of types) {
      const text = readFileSync(join(installed.package, 'dist', file), 'utf8')
      expect({ file, imports: /from ['"](?!\.)|zod|@market\/contract/.exec(text)?.[0] }).toEqual({ file })
    }
  })

  test.each([
    ['the types of browsers', { lib: ['es2022', 'dom', 'dom.asynciterable'], types: [] }],
    [
      'the types of Node',
      { lib: ['es2022'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    ],
  ])('a strict program compiles with %s and skipLibCheck off, and mistakes do not', async (_, libraries) => {
    const folder = `types-${libraries.types.length}`
    const compilerOptions = {
      ...libraries,
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
      exactOptionalPropertyTypes: true,
    }
    const config = installed.write(
      `${folder}/tsconfig.json`,
      JSON.stringify({ compilerOptions, files: ['program.ts'] }),
    )
    installed.write(`${folder}/program.ts`, PROGRAM)
    const compiled = await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', config]).catch(
      (error: { stdout: string }) => error,
    )
    expect(compiled.stdout).toBe('')
  })

  test('an editor shows the description of each call, and of its fields', async () => {
    const file = installed.write('hover.ts', HOVERED)
    const { createOrder, actOnOrder, getOrder } = operations
    const words = ['createOrder', 'actOnOrder', 'getOrder', 'brief', 'escrow_tx_hash']
    const shown = await hoversOf(join(ROOT, 'node_modules/.bin/tsc'), file, words)
    for (const { id, summary, description = '' } of [
      createOrder,
      actOnOrder,
      getOrder,
    ] as readonly Operation[])
      expect(shown[id]).toContain(`${summary}. ${description}`.trim())
    expect(shown['brief']).toContain('What the agent is to do')
    expect(shown['escrow_tx_hash']).toContain('the hash of the transfer')
  })

  test.each(['Node 20', 'Node 24'])('on %s: a program lists, reads, fails and verifies', async (version) => {
    const node = version === 'Node 20' ? await findNode20() : process.execPath
    const file = installed.write('script.mjs', SCRIPT)
    const { stdout } = await run(node, [file], {
      env: { MARKET_API_URL: market.url, MARKET_API_KEY: agent.apiKey },
    })
    expect(JSON.parse(stdout)).toEqual({
      version: version.slice(5),
      titles: ['First service', 'Second service', 'Third service'],
      me: agent.id,
      failure: { status: 404, code: 'order_not_found', hasRequestId: true },
      invalid: { status: 400, code: 'invalid_input', paths: ['content'] },
      webhook: 'signature_wrong',
      solana: true,
      payer: 'is not the USDC of eip155:8453. Nothing was signed.',
    })
  })

  test.each(['Node 20', 'Node 24'])(
    'on %s: a seller quotes an order and answers a workspace',
    async (version) => {
      const node = version === 'Node 20' ? await findNode20() : process.execPath
      const quoted = await makeService(market, agent, { price_type: 'quote', price_usd: undefined })
      const order = await makeOrderIn(market, quoted, 'pending_quote')
      const workspace = await openWorkspace(market, await makeWeekly(market, agent))
      await insertPending(market, workspace.id)
      const file = installed.write('seller.mjs', SELLER)
      const { stdout } = await run(node, [file], {
        env: {
          MARKET_API_URL: market.url,
          MARKET_API_KEY: agent.apiKey,
          QUOTED: quoted.id,
          WEEKLY: workspace.service.id,
        },
      })
      expect(stdout).toContain(JSON.stringify({ step: 'quoted', orderId: order.id, priceUsd: '12.50' }))
      expect(stdout).toMatch(new RegExp(`"generated","orderId":"${workspace.id}"`))
    },
  )

  test('viem of the user signs for it', async () => {
    // Users install viem themselves; here it is the one of the checkout.
    symlinkSync(join(ROOT, 'node_modules/viem'), join(installed.folder, 'node_modules/viem'))
    const file = installed.write('wallet.mjs', WALLET)
    const { stdout } = await run(process.execPath, [file], {
      env: { MARKET_API_URL: market.url },
    })
    expect(JSON.parse(stdout)).toEqual({ orders: 0, kind: 'wallet' })
  })
})

const HOVERED = `
import { Market } from '@market/sdk'

const market = new Market({ apiUrl: 'https://api.example' })
const { id: order_id } = await market.createOrder({ service_id: 'svc_1', brief: 'x' })
await market.actOnOrder({ order_id, action: 'pay', escrow_tx_hash: '0x' })
await market.getOrder({ order_id })
`

const PROGRAM = `
import { evmPayer, Market, MarketError, type Order, type SellerEvent, solanaPayer, verifyWebhook } from '@market/sdk'

const market = new Market({ apiUrl: 'https://api.example', apiKey: 'market_x' })

export async function titles(): Promise<string[]> {
  const found: string[] = []
  for await (const service of market.browseServices({ category: 'coding' })) found.push(service.title)
  const { data, next_cursor } = await market.browseServices()
  const cursor: string | null = next_cursor
  return [...found, ...data.map(({ title }) => title), cursor ?? '']
}

export async function follow(signal: AbortSignal): Promise<void> {
  for await (const event of market.events({ after: '41', signal })) {
    if (event.event === 'order.revision_requested') console.log(event.data.feedback.length)
    // @ts-expect-error: an event of buyers
    if (event.event === 'order.refunded') console.log(event)
    const any: SellerEvent = event
    void any
  }
  for await (const event of market.events({ role: 'buyer' }))
    if (event.event === 'order.refunded') console.log(event.data.tx_hash)
}

export const selling = market.sell({
  service: 'svc_1',
  work: async ({ order }: { order: Order }) => [{ type: 'text', content: order.brief }],
})

export const quoting = market.sell({
  service: { category: 'custom', title: 'Title', description: 'Description', price_type: 'quote' },
  onQuote: ({ order }) => (order.brief.length > 9 ? { price_usd: '1.00', expires_in_hours: 1 } : undefined),
  // @ts-expect-error: a failure has a reason
  onGenerate: ({ generation }) => (generation.prompt === '' ? { failed: true } : 'Done'),
  work: () => 'Done',
})

export async function hiring(account: { address: \`0x\${string}\`; signTypedData: () => Promise<\`0x\${string}\`> }) {
  // @ts-expect-error: maxUsd is required
  await market.hire({ service: 'svc_1', brief: 'Hello', payer: evmPayer(account) })
  const { order, deliverables } = await market.hire({
    service: 'svc_1',
    brief: 'Hello',
    payer: solanaPayer(new Uint8Array(64), { rpcUrl: 'https://rpc.example' }),
    maxUsd: '5.50',
    onProgress: (progress) => progress.step === 'quoted' && console.log(progress.amountUsd),
  })
  return [order.id, deliverables[0]?.content]
}

export async function receive(request: Request): Promise<string> {
  const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secret: 'whsec' })
  return event.event === 'order.paid' ? event.data.service_title : event.deliveryId
}

export async function order(): Promise<string> {
  try {
    // @ts-expect-error: service_id is required
    await market.createOrder({ brief: 'x' })
    return (await market.createOrder({ service_id: 'svc_1', brief: 'x' }, { idempotencyKey: 'a' })).id
  } catch (error) {
    return error instanceof MarketError ? error.code : 'unknown'
  }
}
`

const SCRIPT = `
import { evmPayer, Market, MarketError, solanaWallet, verifyWebhook } from '@market/sdk'

const { MARKET_API_URL: apiUrl, MARKET_API_KEY: apiKey } = process.env
const market = new Market({ apiUrl, apiKey })
const { id: me } = await market.getMyAgent()
const titles = []
for await (const service of market.listAgentServices({ agent_id: me, limit: 1 })) titles.push(service.title)
const errorOf = (promise) => promise.then(() => undefined, (error) => error)
const failure = await errorOf(market.getOrder({ order_id: 'ord_1794784877600_04vnhgh6dbf1olza5' }))
const invalid = await errorOf(market.sendMessage({ order_id: 'ord_1794784877600_04vnhgh6dbf1olza5' }))
const headers = { 'x-market-signature': 't=' + Math.round(Date.now() / 1000) + ',v1=' + '0'.repeat(64) }
const webhook = await errorOf(verifyWebhook({ body: '{}', headers, secret: 'secret' }))
const keys = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
const { address } = await solanaWallet(keys)
const account = { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', signTypedData: async () => '0x' }
const wrong = { scheme: 'exact', network: 'eip155:8453', asset: account.address, amount: '1', payTo: account.address, maxTimeoutSeconds: 60, extra: {} }
const payer = await errorOf(evmPayer(account).sign(wrong))
console.log(JSON.stringify({
  version: process.versions.node.split('.')[0],
  titles: titles.toSorted(),
  me,
  failure: { status: failure.status, code: failure.code, hasRequestId: typeof failure.requestId === 'string' },
  invalid: { status: invalid.status, code: invalid.code, paths: invalid.details.map(({ path }) => path) },
  webhook: webhook.reason,
  solana: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address),
  payer: payer.message.slice(payer.message.indexOf(' ') + 1),
}))
`

const SELLER = `
import { Market } from '@market/sdk'

const { MARKET_API_URL: apiUrl, MARKET_API_KEY: apiKey, QUOTED, WEEKLY } = process.env
const market = new Market({ apiUrl, apiKey })
const sellUntil = (step, options) => {
  const ended = new AbortController()
  const onProgress = (progress) => {
    console.log(JSON.stringify(progress))
    if (progress.step === step) ended.abort()
  }
  return market.sell({ ...options, onProgress, signal: ended.signal })
}
await sellUntil('quoted', { service: QUOTED, onQuote: () => '12.50', work: ({ order }) => order.brief })
await sellUntil('generated', { service: WEEKLY, onGenerate: ({ generation }) => generation.prompt.toUpperCase() })
`

const WALLET = `
import { evmWallet, Market } from '@market/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const wallet = evmWallet(privateKeyToAccount(generatePrivateKey()))
const market = new Market({ apiUrl: process.env.MARKET_API_URL, site: 'https://market.test', wallet })
const { data } = await market.listOrders()
console.log(JSON.stringify({ orders: data.length, kind: 'wallet' }))
`
