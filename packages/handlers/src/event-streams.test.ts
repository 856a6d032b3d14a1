import { emit, emitToBuyer } from '@market/core/events'
import { transact } from '@market/database/transact'
import { rotateKey } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import { makeAgent, makeEvmWallet } from '@market/testing/makers'
import {
  type MarketContext,
  marketContext,
  NO_NETWORKS,
  NO_OWN_WALLETS,
} from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { testReceiptSigner } from '@market/testing/receipts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { AppServices } from './app-services.ts'
import { createCaches } from './caches.ts'
import { type EventStreams, eventStreams } from './event-streams.ts'

const IDLE_MS = 50
const NEVER_MS = 60_000

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
let streams: EventStreams
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
  streams = eventStreams(services())
})
afterAll(async () => {
  streams.stop()
  await database.stop()
})

const services = (): AppServices => ({
  ...ctx,
  limiter: { consume: async () => ({ allowed: true, remaining: 1, resetsInMs: 1_000 }) },
  receipts: testReceiptSigner(),
  registrationFee: usdc(1n),
  treasury: NO_OWN_WALLETS,
  shortWaitMax: usdc(1n),
  earnMarkets: [],
  publicSettings: NO_NETWORKS,
  uploadQuotas: { paid: { files: 1, bytes: 1 }, unpaid: { files: 1, bytes: 1 } },
  hasSolana: false,
  walletMinimumLamports: 0n,
  tokenSuffix: ' by Market',
  ...createCaches({ sharedReadMs: 0 }),
  operators: { userIds: new Set(), keys: [] },
  onSecurityEvent: () => {},
  onFault: () => {},
})

async function open(apiKey: string, { after = '0', role = 'seller', address = '198.51.100.1' } = {}) {
  const call = {
    input: { after, role },
    credentials: { bearer: apiKey },
    address,
    requestId: 'req_1',
  }
  const stream = await streams.open(call)
  if ('status' in stream) throw new Error(`rejected: ${stream.status}`)
  onTestFinished(() => stream.close())
  return stream
}

const emitTestEvent = (agentId: Awaited<ReturnType<typeof makeAgent>>['agent']['id']) =>
  transact(database.db, (tx) => emit(ctx, tx, { agentId, event: 'webhook.test', data: { message: 'Hello' } }))

test('event stream: yields undefined after every idle period, then the event', async () => {
  const { agent, apiKey } = await makeAgent(ctx)
  const frames = (await open(apiKey)).read(AbortSignal.timeout(10_000), IDLE_MS)
  expect((await frames.next()).value).toBeUndefined()
  expect((await frames.next()).value).toBeUndefined()
  await emitTestEvent(agent.id)
  let next = await frames.next()
  while (next.value === undefined) next = await frames.next()
  expect(next.value).toMatchObject({ cursor: '1', event: 'webhook.test', order_id: '' })
  await frames.return(undefined)
})

test('event stream: ends without the next event after the API key was replaced', async () => {
  const wallet = makeEvmWallet()
  const { agent, apiKey } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
  const waiting = (await open(apiKey)).read(AbortSignal.timeout(10_000), NEVER_MS)
  const next = waiting.next()
  const idle = (await open(apiKey)).read(AbortSignal.timeout(10_000), IDLE_MS)
  await rotateKey(ctx, agent.id, { wallets: [wallet] })
  let kept = await idle.next()
  while (kept.done !== true) kept = await idle.next()
  await emitTestEvent(agent.id)
  expect(await next).toEqual({ done: true, value: undefined })
})

test('event stream: yields the event without an idle mark when it wakes a waiting reader', async () => {
  const { agent, apiKey } = await makeAgent(ctx)
  const frames = (await open(apiKey)).read(AbortSignal.timeout(10_000), NEVER_MS)
  const first = frames.next()
  await emitTestEvent(agent.id)
  expect((await first).value).toMatchObject({ cursor: '1' })
  await frames.return(undefined)
})

test('event stream: ends a waiting reader when the signal aborts', async () => {
  const { apiKey } = await makeAgent(ctx)
  const controller = new AbortController()
  const next = (await open(apiKey)).read(controller.signal, NEVER_MS).next()
  controller.abort()
  expect(await next).toEqual({ done: true, value: undefined })
})

test('event stream: returns 429 for a sixth stream of an agent until one is closed (asvs V4.4)', async () => {
  const { apiKey } = await makeAgent(ctx)
  const opened = await Promise.all(Array.from({ length: 5 }, () => open(apiKey)))
  await expect(open(apiKey)).rejects.toThrow('rejected: 429')
  opened.pop()?.close()
  await open(apiKey)
  await expect(open(apiKey)).rejects.toThrow('rejected: 429')
})

test('event stream: returns 429 for the 61st stream of an address, whichever keys it uses, and others get one (asvs V4.4)', async () => {
  const keys = await Promise.all(Array.from({ length: 13 }, () => makeAgent(ctx)))
  const address = '198.51.100.2'
  const opened = []
  for (const { apiKey } of keys.slice(0, 12))
    for (let n = 0; n < 5; n++) opened.push(await open(apiKey, { address }))
  const { apiKey = '' } = keys[12] ?? {}
  await expect(open(apiKey, { address })).rejects.toThrow('rejected: 429')
  await open(apiKey, { address: '198.51.100.3' })
  opened.pop()?.close()
  await open(apiKey, { address })
})

test('event stream: returns 429 for the 61st smart wallet signature of an address in a minute', async () => {
  const wallet = makeEvmWallet()
  const counts = new Map<string, number>()
  const limited = eventStreams({
    ...services(),
    limiter: {
      consume: async ({ name, max }, address) => {
        const count = (counts.get(`${name} ${address}`) ?? 0) + 1
        counts.set(`${name} ${address}`, count)
        return { allowed: count <= max, remaining: Math.max(0, max - count), resetsInMs: 1_000 }
      },
    },
    signatures: {
      ...ctx.signatures,
      // As a contract that rejects the signature: only a node can say it.
      verify: async ({ beforeQuery }) => {
        await beforeQuery?.()
        throw new ApiError('unauthenticated', 'The signature is wrong.', { code: 'bad_signature' })
      },
    },
  })
  onTestFinished(() => limited.stop())
  const attempt = async () => {
    const signed = {
      wallet: wallet.address,
      chain: 'base',
      signature: `0x${'ab'.repeat(65)}`,
      signedAtMs: Date.now(),
    }
    const opened = await limited.open({
      input: { after: '0' },
      credentials: { wallet: signed },
      address: '198.51.100.2',
      requestId: 'req_1',
    })
    return 'status' in opened ? opened.status : 200
  }
  for (let sent = 0; sent < 60; sent += 1) expect(await attempt()).toBe(401)
  expect(await attempt()).toBe(429)
})

/** A stream of a wallet that signed now, without its signature being checked. */
async function openAsWallet(wallet: ReturnType<typeof makeEvmWallet>) {
  const signed = {
    wallet: wallet.address,
    chain: 'base',
    signature: '0x00',
    signedAtMs: ctx.clock.wallTime().getTime(),
  }
  const trusting = eventStreams({
    ...services(),
    signatures: { ...ctx.signatures, verify: async () => 'key' },
  })
  onTestFinished(() => trusting.stop())
  const stream = await trusting.open({
    input: { role: 'buyer' },
    credentials: { wallet: signed },
    address: '198.51.100.3',
    requestId: 'req_1',
  })
  if ('status' in stream) throw new Error(`rejected: ${stream.status}`)
  onTestFinished(() => stream.close())
  return stream
}

const emitToWallet = ({ key }: ReturnType<typeof makeEvmWallet>) =>
  transact(database.db, (tx) => emitToBuyer(ctx, tx, { id: 'ord_1', buyer: `wallet:${key}` }, ACCEPTED))

const ACCEPTED = { event: 'order.accepted', data: { price_usd: '5.00' } } as const

test('event stream of a wallet: ends without the next event when its signature is more than 5 minutes old', async () => {
  const wallet = makeEvmWallet()
  const frames = (await openAsWallet(wallet)).read(AbortSignal.timeout(10_000), NEVER_MS)
  await emitToWallet(wallet)
  expect((await frames.next()).value).toMatchObject({ cursor: '1', event: 'order.accepted' })
  ctx.clock.advance(300_000)
  await emitToWallet(wallet)
  expect((await frames.next()).value).toMatchObject({ cursor: '2' })
  ctx.clock.advance(1)
  await emitToWallet(wallet)
  expect(await frames.next()).toEqual({ done: true, value: undefined })
})

test('event stream of a wallet: ends at an idle mark after its signature has expired', async () => {
  const frames = (await openAsWallet(makeEvmWallet())).read(AbortSignal.timeout(10_000), IDLE_MS)
  expect((await frames.next()).value).toBeUndefined()
  ctx.clock.advance(300_001)
  expect(await frames.next()).toEqual({ done: true, value: undefined })
})

test('event stream: the streams of an agent as a seller and as a buyer count together', async () => {
  const { apiKey } = await makeAgent(ctx)
  for (const role of ['seller', 'buyer', 'seller', 'buyer', 'buyer']) await open(apiKey, { role })
  await expect(open(apiKey, { role: 'buyer' })).rejects.toThrow('rejected: 429')
})
