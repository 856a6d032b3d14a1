import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyWebhook } from '@market/sdk'
import { ADMIN_CLIENT_ID } from '@market/testing/idp'
import { freePort } from '@market/testing/postgres-server'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { confirmLogin } from '../support/browser-login.ts'
import { cliHere } from '../support/cli.ts'
import { startMarket } from '../support/market.ts'
import { until } from '../support/until.ts'
import { testOrders } from './cli-orders.ts'
import { cliOf, startHook } from './cli-process.ts'

/** A seller and a buyer use the program `market` against an API, a worker and a chain. */

/** Wallets sign for the URL that the program uses. */
const start = async () => {
  const port = await freePort()
  const settings = { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` }
  return startMarket(settings, { chains: ['base-mainnet'], float: 100_000_000n, gas: true, mines: true })
}

let market: Awaited<ReturnType<typeof start>>
let seller: ReturnType<typeof cliOf>
let buyer: ReturnType<typeof cliOf>
/** The same in the process of the test, where a process of its own would only cost time. */
let sellerHere: ReturnType<typeof cliHere>
let buyerHere: ReturnType<typeof cliHere>
let hook: Awaited<ReturnType<typeof startHook>>
const walletKey = generatePrivateKey()
const payee = privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  market = await start()
  await market.startWorker()
  market.idp.setPerson({ sub: 'seller' })
  seller = cliOf({ MARKET_API_URL: market.url })
  buyer = cliOf({ MARKET_API_URL: market.url })
  sellerHere = cliHere(seller.folder, { MARKET_API_URL: market.url })
  buyerHere = cliHere(buyer.folder, { MARKET_API_URL: market.url })
  hook = await startHook()
  await market.chains['base-mainnet'].chain.mint(privateKeyToAddress(walletKey), 50_000_000n)
})
afterAll(async () => {
  hook?.stop()
  seller?.remove()
  buyer?.remove()
  await market?.stop()
})

test('login: without options, a browser confirms the code, and the login is stored for its user only', async () => {
  const { said, ended } = seller.start(['login'])
  const page = () => /^Open (\S+)\n.*Waiting/s.exec(said.error)?.[1]
  await until('the page is named', () => page() !== undefined)
  await confirmLogin(page() ?? '', 'seller')
  expect(await ended).toMatchObject({ status: 0, out: expect.stringMatching(/^Logged in to .* until /) })
  expect(statSync(seller.file).mode & 0o777).toBe(0o600)
  expect(await seller.json('whoami')).toMatchObject({ user: { idp_user_id: 'seller' }, api_url: market.url })
})

test('login: options replace what the API names, and are stored', async () => {
  const other = cliOf({ MARKET_API_URL: market.url })
  const options = ['--issuer', market.idp.issuer, '--client-id', ADMIN_CLIENT_ID]
  const { said, ended } = other.start(['login', ...options, '--audience', market.idp.audience])
  const page = () => /^Open (\S+)\n.*Waiting/s.exec(said.error)?.[1]
  await until('the page is named', () => page() !== undefined)
  await confirmLogin(page() ?? '', 'seller')
  expect(await ended).toMatchObject({ status: 0 })
  const { profiles } = await other.json('config')
  expect(profiles.default).toMatchObject({ issuer: market.idp.issuer, client_id: ADMIN_CLIENT_ID })
  other.remove()
})

test('a seller registers, is hired by x402, gets the event signed and delivers', async () => {
  const name = `Counter ${Date.now() % 1_000_000}`
  const registered = await seller.json(
    ...['register', '--name', name, '--description', 'Counts the words of a text.'],
    ...['--payout-address-base', payee, '--link'],
  )
  expect(registered).toMatchObject({ marketable: true, payable_on: expect.arrayContaining(['base-mainnet']) })
  expect(JSON.stringify(registered)).not.toContain('market_')

  const service = await seller.json(
    ...['services', 'create', '--title', 'The words of a text, counted', '--category', 'analytics'],
    ...['--price', '5.00', '--description', 'Send a text with your order. I count its words and deliver it.'],
  )
  expect(await sellerHere.json('services', 'mine')).toMatchObject({ data: [{ id: service.id }] })
  const found = await buyer.run(['services', '--search', 'words counted'])
  expect(found).toMatchObject({ status: 0, error: '', out: expect.stringContaining(service.id) })

  const listening = seller.start(['events', 'listen', '--forward-to', hook.url, '--json'])
  await until('it listens', () => listening.said.error.includes('Signing secret'))
  const [, secret = ''] = /Signing secret: (\S+)/.exec(listening.said.error) ?? []

  const walletFile = join(buyer.folder, 'wallet')
  writeFileSync(walletFile, walletKey, { mode: 0o600 })
  const hire = ['hire', service.id, '--brief', 'one two three', '--wallet-file', walletFile]
  const tooDear = await buyerHere.run([...hire, '--max-usd', '5.00'])
  expect(tooDear).toMatchObject({
    status: 1,
    out: '',
    error: expect.stringMatching(
      /5\.50.*price_above_max.*next +market hire svc_\w+ --brief <text> --max-usd/s,
    ),
  })
  const hiring = buyer.start([...hire, '--max-usd', '5.50', '--json'])

  await until('the event is forwarded', () => hook.calls.length > 0, { withinMs: 60_000 })
  const [call] = hook.calls
  const event = await verifyWebhook({ body: call?.body ?? '', headers: call?.headers ?? {}, secret })
  expect(event).toMatchObject({
    event: 'order.created',
    data: { status: 'paid' },
    agentId: registered.agent_id,
  })
  await until('the forward is shown', () => listening.said.out.includes('\n'))
  expect(JSON.parse(listening.said.out.split('\n')[0] ?? '')).toMatchObject({
    event: 'order.created',
    order_id: event.order_id,
    forwarded: { status: 204 },
  })
  listening.child.kill('SIGINT')
  expect(await listening.ended).toMatchObject({ status: 0, error: expect.stringContaining('--after') })

  const shown = await sellerHere.run(['orders', 'show', event.order_id])
  expect(shown).toMatchObject({ status: 0, out: expect.stringMatching(/one two three$/m) })
  const file = join(seller.folder, 'words.txt')
  writeFileSync(file, 'three words here')
  const parts = ['--text', '-', '--file', file, '--note', 'done']
  const delivered = await seller.run(['deliver', event.order_id, ...parts], '3 words')
  expect(delivered).toMatchObject({ status: 0, out: expect.stringContaining('it is completed') })
  const hired = await hiring.ended
  expect(hired.status).toBe(0)
  const bought = JSON.parse(hired.out)
  expect(bought).toMatchObject({
    order_id: event.order_id,
    deliverables: [{ content: '3 words' }, { title: 'words.txt', url: expect.any(String) }],
  })
  const again = await buyerHere.json('orders', 'show', bought.status_url)
  expect(again).toMatchObject({ order: { status: 'completed' }, viewer_role: 'buyer' })
})

describe('hire: ends by a signal', () => {
  const orders = new Set<string>()
  const key = 'one-purchase-that-several-processes-continue'
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s while it waits for the delivery', async (name, status) => {
    const [service] = (await sellerHere.json('services', 'mine')).data
    const hire = ['hire', service.id, '--brief', 'Do not deliver.', '--max-usd', '5.50', '--json']
    const { child, said, ended } = buyer.start([...hire, '--idempotency-key', key], '', {
      MARKET_WALLET_KEY: walletKey,
    })
    await until('it is paid', () => said.error.includes('Status: '))
    child.kill(name)
    const { error, ...rest } = await ended
    expect(rest).toEqual({ status, out: '' })
    expect(error).toContain(`If this ends early, repeat the command with --idempotency-key ${key}`)
    const [, url = ''] = /Read it with: market orders show '(\S+)'\n$/.exec(error) ?? []
    orders.add((await buyerHere.json('orders', 'show', url)).order.id)
    expect([...orders]).toHaveLength(1)
  })
})

testOrders(async () => ({
  url: market.url,
  chain: market.chains['base-mainnet'].chain,
  seller,
  buyer: { folder: buyer.folder, token: await market.idp.token({ sub: 'account-buyer' }) },
}))

test('solvency verify: proves the treasury on the chain, and fails without an anchor', async () => {
  const { chain, treasury } = market.chains['base-mainnet']
  const known = [
    '--rpc',
    `base-mainnet=${chain.url}`,
    '--treasury',
    `base-mainnet=${treasury}`,
    '--owed',
    '0.00',
  ]
  await until(
    'a snapshot is published',
    async () => {
      const { status } = await sellerHere.run(['solvency', 'verify', ...known, '--no-anchor', '--wait', '1'])
      return status === 0
    },
    { withinMs: 120_000, everyMs: 1_000 },
  )
  const verified = await sellerHere.json('solvency', 'verify', ...known, '--no-anchor')
  expect(verified.checks).toContainEqual(
    expect.objectContaining({ result: 'ok', check: 'treasury base-mainnet' }),
  )
  // The snapshot may be older than what the wallet bought.
  const asWallet = ['solvency', 'verify', ...known.slice(0, 4), '--no-anchor']
  const { out } = await buyerHere.run(asWallet, { MARKET_WALLET_KEY: walletKey })
  expect(out).toMatch(/^ok +leaf escrow:.* owed to 0x|the API says that nothing is owed to you/m)
  expect((await buyerHere.run(asWallet)).out).toContain('no credential, --wallet-file or --proof')
  const anchored = await sellerHere.run(['solvency', 'verify', ...known])
  expect(anchored).toMatchObject({ status: 1, error: '', out: expect.stringMatching(/^FAILED +anchor/m) })
})

test('doctor: every line is ok, or names the next command, and no secret is printed', async () => {
  // The api writes this document once, which takes a busy machine longer than the program waits.
  expect((await market.client().get('/api/openapi.json')).status).toBe(200)
  const { ok, checks } = await sellerHere.json('doctor')
  expect(ok).toBe(true)
  expect(
    Object.fromEntries(checks.map(({ check, result }: Record<string, string>) => [check, result])),
  ).toEqual({
    node: 'ok',
    settings: 'ok',
    api: 'ok',
    clock: 'ok',
    user: 'ok',
    agent: 'ok',
    visible: 'ok',
    'paid on': 'ok',
    webhook: 'skipped',
  })
  const text = await sellerHere.run(['doctor'])
  expect(text.out).not.toMatch(/market_[A-Za-z0-9]{8}|eyJ/)
  const fresh = await buyerHere.run(['doctor'], { MARKET_API_KEY: 'market_wrong_key_of_nobody_at_all' })
  expect(fresh).toMatchObject({
    status: 1,
    out: expect.stringMatching(/FAILED +agent .*\n +→ market login --api-key/),
  })
  expect(fresh.out).not.toContain('nobody')
  const away = await buyerHere.run(['doctor', '--api-url', 'http://127.0.0.1:9'])
  expect(away).toMatchObject({ status: 1, out: expect.stringMatching(/FAILED +api .*cannot be reached/) })
})

test('errors: exit status, message on stderr only, and the next command; a stored key is never sent elsewhere', async () => {
  expect(await buyerHere.run(['payouts'])).toMatchObject({
    status: 1,
    out: '',
    error: expect.stringMatching(/next +market login --api-key/),
  })
  const unknown = await sellerHere.run(['orders', 'show', 'ord_1'])
  expect(unknown).toMatchObject({
    status: 1,
    out: '',
    error: expect.stringMatching(/order_not_found\n.*next +market orders$/ms),
  })
  const elsewhere = await sellerHere.run(['payouts', '--api-url', 'http://127.0.0.1:9'])
  expect(elsewhere).toMatchObject({
    status: 1,
    error: expect.stringContaining(`credentials for ${market.url}`),
  })
})

test('payouts: shows what the agent earned once it is sent', async () => {
  const ofFirst = async () => (await sellerHere.json('payouts')).payouts.at(-1)
  await until('the payout is sent', async () => (await ofFirst())?.state === 'sent', {
    withinMs: 120_000,
    everyMs: 200,
  })
  expect(await sellerHere.json('payouts')).toMatchObject({ balance: { paid_out_usd: '5.00' } })
  expect(await market.chains['base-mainnet'].chain.balanceOf(payee)).toBe(5_000_000n)
})

test('logout removes the credentials', async () => {
  expect(await sellerHere.json('logout')).toMatchObject({ removed: ['login', 'api_key'] })
  expect(await sellerHere.run(['whoami'])).toMatchObject({
    status: 1,
    error: expect.stringContaining('market login'),
  })
})
