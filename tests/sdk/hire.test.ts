import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { evmPayer, type HireOptions, type HireProgress, Market, solanaPayer } from '@market/sdk'
import { createSignerFromKeyPair, generateKeyPair } from '@solana/kit'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { BRIEF, DUE, type PurchaseWorld, startPurchaseWorld } from '../x402/purchase-world.ts'

let world: PurchaseWorld
let seller: Awaited<ReturnType<PurchaseWorld['newSeller']>>
let ended: AbortController
let selling: Promise<void>
const delivered: string[] = []

beforeAll(async () => {
  world = await startPurchaseWorld()
  seller = await world.newSeller()
  ended = new AbortController()
  selling = new Market({ apiUrl: world.market.url, apiKey: seller.apiKey }).sell({
    service: seller.serviceId,
    work: ({ order }) => `Read: ${order.brief}`,
    onProgress: (progress) => progress.step === 'delivered' && delivered.push(progress.orderId),
    signal: ended.signal,
  })
})
afterAll(async () => {
  ended.abort()
  await selling
  await world.stop()
})

/** Every client has an address of its own, so that tests do not share rate limits. */
const marketAt = (apiUrl: string) => {
  const address = someAddress()
  return new Market({
    apiUrl,
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...(init?.headers as object), 'x-forwarded-for': address } }),
  })
}

async function evmWorldPayer(network: 'base-mainnet' | 'alt-mainnet' = 'base-mainnet') {
  const account = privateKeyToAccount(generatePrivateKey())
  const { chain } = network === 'base-mainnet' ? world.base : world.alt
  await chain.mint(account.address, 3n * DUE)
  let signatures = 0
  const signTypedData: typeof account.signTypedData = (parameters) => {
    signatures++
    return account.signTypedData(parameters)
  }
  return {
    payer: evmPayer({ address: account.address, signTypedData: signTypedData as never }),
    signatures: () => signatures,
    paid: async () => 3n * DUE - (await chain.balanceOf(account.address)),
  }
}

async function solanaWorldPayer() {
  const keypair = await generateKeyPair(true)
  const raw = new Uint8Array(await crypto.subtle.exportKey('pkcs8', keypair.privateKey)).slice(-32)
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', keypair.publicKey))
  const { address } = await createSignerFromKeyPair(keypair)
  const payer = solanaPayer([...raw, ...publicKey], { rpcUrl: world.solana.chain.chain.url })
  return { payer, address }
}

const hireOf = (payer: HireOptions['payer'], more: Partial<HireOptions> = {}): HireOptions => ({
  service: seller.serviceId,
  brief: BRIEF,
  payer,
  maxUsd: '11.00',
  ...more,
})

describe('hire', () => {
  test.each(['base-mainnet', 'alt-mainnet'] as const)(
    'on %s: pays the price with the fee once and returns the delivery',
    async (network) => {
      const { payer, paid } = await evmWorldPayer(network)
      const steps: HireProgress[] = []
      const { order, deliverables, statusUrl } = await marketAt(world.market.url).hire(
        hireOf(payer, { network, onProgress: (step) => steps.push(step) }),
      )
      expect(order).toMatchObject({ status: 'completed', payment_network: network })
      expect(deliverables).toMatchObject([{ type: 'text', content: `Read: ${BRIEF}` }])
      expect(await paid()).toBe(DUE)
      expect(steps).toEqual([
        { step: 'quoted', amountUsd: '11.00', network, idempotencyKey: expect.any(String) },
        { step: 'paid', orderId: order.id, statusUrl },
        { step: 'delivered', orderId: order.id },
      ])
      expect(statusUrl.startsWith(`${world.market.url}/api/x402/orders/${order.id}?t=`)).toBe(true)
      expect(delivered.filter((id) => id === order.id)).toEqual([order.id])
    },
  )

  test('on solana-mainnet: pays with a keypair that has no SOL', async () => {
    const { payer, address } = await solanaWorldPayer()
    await world.solana.chain.usdc.fund(address, DUE)
    const { order } = await marketAt(world.market.url).hire(hireOf(payer))
    expect(order).toMatchObject({ status: 'completed', payment_network: 'solana-mainnet' })
    expect(await world.solana.chain.usdc.balanceOf(address)).toBe(0n)
  })

  test('refuses a price above maxUsd by a millionth before it signs', async () => {
    const { payer, signatures, paid } = await evmWorldPayer()
    const hired = marketAt(world.market.url).hire(hireOf(payer, { maxUsd: '10.999999' }))
    await expect(hired).rejects.toMatchObject({
      code: 'price_above_max',
      message: expect.stringContaining('costs 11.00 USD with the fee, maxUsd is 10.999999'),
    })
    expect([signatures(), await paid()]).toEqual([0, 0n])
  })

  test.each(['', '5,5', '-1', '1e3', '0.0000001', ' 5'])('refuses %j as maxUsd', async (maxUsd) => {
    const { payer } = await evmWorldPayer()
    await expect(marketAt(world.market.url).hire(hireOf(payer, { maxUsd }))).rejects.toThrow(
      /maxUsd is .*decimal text/,
    )
  })

  test('a second call with the same key signs anew, is not charged and returns the first order', async () => {
    const { payer, signatures, paid } = await evmWorldPayer()
    const idempotencyKey = crypto.randomUUID()
    const first = await marketAt(world.market.url).hire(hireOf(payer, { idempotencyKey }))
    const second = await marketAt(world.market.url).hire(hireOf(payer, { idempotencyKey }))
    expect(second.order.id).toBe(first.order.id)
    expect([signatures(), await paid()]).toEqual([2, DUE])
  })

  test('a wallet without USDC: the error names wallet, network, balance and what is missing', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const wallet = account.address.toLowerCase()
    const hired = () => marketAt(world.market.url).hire(hireOf(evmPayer(account)))
    const isRejected = (message: string) => {
      const code = 'invalid_exact_evm_insufficient_balance'
      return expect(hired()).rejects.toMatchObject({ name: 'MarketError', status: 402, code, message })
    }
    await isRejected(
      `${wallet} holds 0.00 USDC on base-mainnet, and 11.00 USDC is due. Send 11.00 USDC to it, then pay again.`,
    )
    await world.base.chain.mint(account.address, DUE - 1n)
    await isRejected(
      `${wallet} holds 10.999999 USDC on base-mainnet, and 11.00 USDC is due. Send 0.000001 USDC to it, then pay again.`,
    )
  })

  test('a Solana wallet without USDC: the error names wallet, network, balance and what is missing', async () => {
    const { payer, address: wallet } = await solanaWorldPayer()
    await expect(marketAt(world.market.url).hire(hireOf(payer))).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_funds',
      message: `${wallet} holds 0.00 USDC on solana-mainnet, and 11.00 USDC is due. Send 11.00 USDC to it, then pay again.`,
    })
  })
})

/** A server before the API that changes what clients get. */
async function startProxy(
  change: (
    request: IncomingMessage,
    forward: () => Promise<Response>,
    response: ServerResponse,
  ) => Promise<void>,
) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const forward = () =>
      fetch(`${world.market.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      })
    await change(request, forward, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function pass(reply: Response, response: ServerResponse): Promise<void> {
  const body = Buffer.from(await reply.arrayBuffer())
  const {
    'content-encoding': _,
    'content-length': __,
    'transfer-encoding': ___,
    ...headers
  } = Object.fromEntries(reply.headers)
  response.writeHead(reply.status, headers).end(body)
}

const isPaid = ({ headers }: IncomingMessage) => headers['payment-signature'] !== undefined

describe('hire after the payment was sent', () => {
  test('repeats the same payment and key after lost responses, 503 and 429, and pays once', async () => {
    const sent: unknown[] = []
    const proxy = await startProxy(async (request, forward, response) => {
      const reply = await forward()
      if (!isPaid(request)) return pass(reply, response)
      sent.push([request.headers['payment-signature'], request.headers['idempotency-key']])
      if (sent.length === 1) return void response.destroy()
      if (sent.length === 2) return void response.writeHead(503, { 'retry-after': '0' }).end('{}')
      if (sent.length === 3) return void response.writeHead(429, { 'retry-after': '1' }).end('{}')
      return pass(reply, response)
    })
    const { payer, signatures, paid } = await evmWorldPayer()
    const { order } = await marketAt(proxy.url).hire(hireOf(payer))
    proxy.stop()
    expect(order.status).toBe('completed')
    expect(sent).toHaveLength(4)
    expect(new Set(sent.map((one) => JSON.stringify(one))).size).toBe(1)
    expect([signatures(), await paid()]).toEqual([1, DUE])
  })

  test('reads the order at apiUrl when status_url names another host', async () => {
    const proxy = await startProxy(async (request, forward, response) => {
      const reply = await forward()
      if (!isPaid(request) || !reply.ok) return pass(reply, response)
      const body = (await reply.json()) as { data: { status_url: string } }
      const { pathname, search } = new URL(body.data.status_url)
      body.data.status_url = `http://127.0.0.1:1${pathname}${search}`
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const { payer } = await evmWorldPayer()
    const { statusUrl } = await marketAt(proxy.url).hire(hireOf(payer))
    proxy.stop()
    expect(new URL(statusUrl).origin).toBe(proxy.url)
  })

  test.each([
    [
      'another asset',
      { asset: '0x4200000000000000000000000000000000000006' },
      /network_not_accepted|is not the USDC/,
    ],
    ['a larger amount', { amount: '11000001' }, /costs 11\.000001 USD/],
    ['an amount that is no number', { amount: '1.5' }, /not a number/],
    ['Permit2', { extra: { name: 'USD Coin', version: '2', assetTransferMethod: 'permit2' } }, /EIP-3009/],
    ['another scheme', { scheme: 'upto' }, /cannot be paid on base-mainnet/],
  ])('signs nothing when the API asks for %s', async (_, change, message) => {
    const proxy = await startProxy(async (_request, forward, response) => {
      const reply = await forward()
      const required = JSON.parse(atob(reply.headers.get('payment-required') ?? ''))
      const body = (await reply.json()) as { accepts: { asset: { address: string } }[] }
      required.accepts = required.accepts.map((one: object) => ({ ...one, ...change }))
      if ('asset' in change) for (const one of body.accepts) one.asset.address = change.asset ?? ''
      response
        .writeHead(402, {
          'content-type': 'application/json',
          'payment-required': Buffer.from(JSON.stringify(required)).toString('base64'),
        })
        .end(JSON.stringify(body))
    })
    const { payer, signatures } = await evmWorldPayer()
    await expect(marketAt(proxy.url).hire(hireOf(payer))).rejects.toThrow(message)
    proxy.stop()
    expect(signatures()).toBe(0)
  })
})
