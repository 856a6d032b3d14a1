import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { LIMITS, type LimitName } from '@market/contract/limits'
import { evmSigner } from '@market/testing/evm-signer'
import { Redis } from 'ioredis'
import { encodeFunctionData, erc20Abi, type Hex, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { relayTo } from '../chains/node-relay.ts'
import { type Reply, someAddress } from '../support/client.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { startEvm } from '../support/market-chains.ts'
import { rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'

/** Rate limits of the purchase routes per address. */

const SERVICE = 'svc_1700000000000_00000000000000000'
const BATCH = 20

const base = await startEvm('base-mainnet')
const node = await relayTo(base.chain.url)
let market: Market
beforeAll(async () => {
  market = await startMarket({ ...base.settings, BASE_RPC_URLS: node.url, BASE_CONFIRMATIONS: '0:1' })
})
afterAll(async () => {
  await market.stop()
  await node.stop()
  await base.stop()
})

const left = ({ headers }: Reply) => Number(headers.get('x-ratelimit-remaining'))

const DISCOVER = LIMITS['x402.discover'].max
const PAY = LIMITS['x402.pay'].max

const ROUTES = [
  [`/api/x402/discover/${SERVICE}`, DISCOVER],
  [`/api/x402/discover?service_id=${SERVICE}`, DISCOVER],
  [`/api/x402/pay?service_id=${SERVICE}`, PAY],
  [`/api/x402/v1/pay?service_id=${SERVICE}`, PAY],
] as const

describe.each(ROUTES)('%s', (path, max) => {
  test('an unreadable payment counts against the limit and returns the limit headers', async () => {
    const from = someAddress()
    const post = (body: string, type = 'application/json') =>
      market.client().post(path, body, { from, headers: { 'content-type': type } })
    const replies = [
      await post('{'),
      await post(JSON.stringify({ brief: 'x'.repeat(257 * 1024) })),
      await post('brief=x', 'application/x-www-form-urlencoded'),
      await post('{}'),
    ]
    expect(replies.map(({ status }) => status)).toEqual([400, 413, 415, 404])
    expect(replies[0]?.body.code).toBe('bad_json')
    expect(replies.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(Array(4).fill(String(max)))
    expect(replies.map(left)).toEqual([max - 1, max - 2, max - 3, max - 4])
    for (const { headers } of replies) expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(0)
  })
})

/** Uses up the limit of an address through all forms of a route in turn, which share one counter. */
async function usesUp(max: number, ways: readonly ((from: string) => Promise<Reply>)[]) {
  const from = someAddress()
  const replies: Reply[] = []
  while (replies.length < max) {
    const turn = Array.from({ length: Math.min(BATCH, max - replies.length) }, (_, at) =>
      ways[(replies.length + at) % ways.length]?.(from),
    )
    replies.push(...(await Promise.all(turn)).filter((reply) => reply !== undefined))
  }
  expect(replies.filter(({ status }) => status === 429)).toEqual([])
  expect(replies.map(left).sort((a, b) => b - a)).toEqual(
    Array.from({ length: max }, (_, at) => max - 1 - at),
  )
  for (const way of ways) {
    const reply = await way(from)
    rejected(reply, 429, 'rate_limited')
    expect(left(reply)).toBe(0)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await way(someAddress())).status).not.toBe(429)
  }
}

const get = (path: string) => (from: string) => market.client().get(path, { from })
const post = (path: string, body: unknown) => (from: string) => market.client().post(path, body, { from })

test(`429: call ${PAY + 1} of one address at pay within an hour, for every form of the path`, () =>
  usesUp(PAY, [post('/api/x402/pay?service_id=x', {}), post('/api/x402/pay', '{')]))

test(`429: call ${PAY + 1} of one address at pay of version 1, which has a counter of its own`, () =>
  usesUp(PAY, [post('/api/x402/v1/pay?service_id=x', {}), post('/api/x402/v1/pay', '{')]))

test(`429: call ${DISCOVER + 1} of one address at discover within an hour: both forms share one counter`, () =>
  usesUp(DISCOVER, [get('/api/x402/discover/x'), get('/api/x402/discover?service_id=x')]))

test(`429: call ${DISCOVER + 1} of one address at discover by POST, which has a counter of its own`, () =>
  usesUp(DISCOVER, [post('/api/x402/discover/x', {}), post('/api/x402/discover', '{')]))

const BRIEF = 'Read the branch called blue.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n

const newService = async () =>
  (await makeService(market, await makeOwnedAgent(market), { price_usd: '10.00' })).id as string

const inventHash = () => `0x${randomBytes(32).toString('hex')}`

const buy = (id: string, hash: string, { from = someAddress(), ...headers }: Record<string, string> = {}) =>
  market
    .client()
    .post(`/api/x402/discover/${id}`, { brief: BRIEF }, { from, headers: { 'x-payment': hash, ...headers } })

/** How many queries reached the node during `work`. */
async function queriesOf(work: () => Promise<unknown>): Promise<number> {
  const before = node.methods().length
  await work()
  return node.methods().length - before
}

describe('a payment that no node knows', () => {
  test('costs at most 5 queries, is not awaited, and returns 402 with Retry-After', async () => {
    const id = await newService()
    const queries = await queriesOf(async () => {
      const reply = await buy(id, inventHash())
      expect([reply.status, reply.body.error]).toEqual([402, 'transaction_not_found_yet'])
      expect(reply.headers.get('retry-after')).toBe('3')
    })
    expect(queries).toBeLessThanOrEqual(5)
  })

  test('costs no query when it is named again within 2 seconds, by any address', async () => {
    const id = await newService()
    for (;;) {
      const hash = inventHash()
      const began = performance.now()
      await buy(id, hash)
      const queries = await queriesOf(() => buy(id, hash))
      // On a slow machine the two seconds end before the second request.
      if (performance.now() - began > 2_000) continue
      expect(queries).toBe(0)
      return
    }
  })

  test('is awaited for its payer, who signs, and for a caller with the claim of a quote', async () => {
    const id = await newService()
    const quote = await market.client().get(`/api/x402/discover/${id}`)
    const claim = { 'x-payment-claim': quote.headers.get('x-market-payment-claim') ?? '' }
    for (const proof of ['signature', 'claim']) {
      const { hash, send, signature } = await signTransfer(id)
      const bought = buy(id, hash, proof === 'claim' ? claim : signature)
      await pause(1_500)
      await send()
      const reply = await bought
      expect([proof, reply.status]).toEqual([proof, 200])
    }
  })

  test('is not awaited with an invented claim', async () => {
    const id = await newService()
    const claim = { 'x-payment-claim': randomBytes(36).toString('base64url') }
    expect(await queriesOf(() => buy(id, inventHash(), claim))).toBeLessThanOrEqual(5)
  })
})

/** A transfer of the price that is signed and not sent yet, and the payer's signature for a purchase with it. */
async function signTransfer(serviceId: string) {
  const { chain, treasury } = base
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.fund(account.address)
  await chain.mint(account.address, DUE)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [treasury, DUE] })
  const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n, gas: 300_000n }
  const bytes = await account.signTransaction({
    ...{ type: 'eip1559', chainId: chain.chainId, nonce: 0, to: chain.usdc, data },
    ...fees,
  })
  const hash = keccak256(bytes)
  const words = createHash('sha256').update(BRIEF).digest('hex')
  const signer = {
    address: account.address,
    sign: (message: string): Promise<Hex> => account.signMessage({ message }),
  }
  const purpose = `x402.pay:base-mainnet:${hash}:${serviceId}:${words}`
  return {
    hash,
    signature: asHeaders(await signed(signer, purpose, market.now())),
    send: () => chain.rpc('eth_sendRawTransaction', [bytes]),
  }
}

/** Uses the budget up, as so many requests would. */
async function useUp(name: LimitName, address: string): Promise<void> {
  const { REDIS_URL = '', REDIS_PREFIX = '' } = market.environment as Record<string, string>
  const redis = new Redis(REDIS_URL)
  const { max, windowSeconds } = LIMITS[name]
  await redis.set(`${REDIS_PREFIX}limit:${name}|${address}`, max, 'EX', windowSeconds)
  redis.disconnect()
}

/** The headers describe the limit that rejected the request, not the one of its operation. */
function hasHeadersOf(name: LimitName, { headers }: Reply): void {
  const seconds = Number(headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(headers.get('x-ratelimit-limit')).toBe(String(LIMITS[name].max))
  expect(headers.get('x-ratelimit-remaining')).toBe('0')
  const reset = Number(headers.get('x-ratelimit-reset'))
  expect(Math.abs(reset - market.wallTime() / 1_000 - seconds)).toBeLessThan(5)
}

describe('budgets of queries per address', () => {
  test('429: chain.lookups, before the node is queried; another address has its own', async () => {
    const id = await newService()
    const from = someAddress()
    await useUp('chain.lookups', from)
    const queries = await queriesOf(async () => {
      const reply = await buy(id, inventHash(), { from })
      rejected(reply, 429, 'rate_limited')
      expect(reply.body.error).toMatch(/^Too many payments were looked up: .* Nothing was charged or used\./)
      hasHeadersOf('chain.lookups', reply)
    })
    expect(queries).toBe(0)
    expect((await buy(id, inventHash())).status).toBe(402)
  })

  test('429: chain.signatures, for a signature that only a contract could verify; keys are verified without it', async () => {
    const from = someAddress()
    await useUp('chain.signatures', from)
    const [wallet, other] = [evmSigner(), evmSigner()]
    const own = asHeaders(await signed(wallet, 'session', market.now()))
    const foreign = {
      ...asHeaders(await signed(other, 'session', market.now())),
      'x-market-wallet': wallet.address,
    }
    const read = (headers: Record<string, string>, address?: string) =>
      market.client().get('/api/orders', { headers, ...(address && { from: address }) })
    const queries = await queriesOf(async () => {
      const reply = await read(foreign, from)
      rejected(reply, 429, 'rate_limited')
      hasHeadersOf('chain.signatures', reply)
    })
    expect(queries).toBe(0)
    expect((await read(own, from)).status).toBe(200)
    expect(await queriesOf(async () => rejected(await read(foreign), 401, 'bad_signature'))).toBe(1)
  })

  test('chain.signatures does not count a payer whose key signed for the payment', async () => {
    const id = await newService()
    const from = someAddress()
    await useUp('chain.signatures', from)
    const { hash, send, signature } = await signTransfer(id)
    await send()
    expect((await buy(id, hash, { from, ...signature })).status).toBe(200)
  })
})
