import { NETWORKS } from '@market/kernel/network'
import { PaymentRequiredV1Schema } from '@x402/core/schemas'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { clientOf, SPEND_CONTROLS } from '../support/stock-client.ts'
import type { Buyer } from './buyers.ts'
import { BRIEF, DUE, decoded, json, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** Unmodified x402 clients buy through every route on every network without native coin. */

let world: PurchaseWorld
let serviceId: string
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
})
afterAll(() => world.stop())

const url = (path: string) => `${world.market.url}${path}`
const ROUTES: readonly (readonly [string, number, () => readonly [string, RequestInit]])[] = [
  [
    'GET discover',
    200,
    () => [
      `/api/x402/discover/${serviceId}?brief=${encodeURIComponent(BRIEF)}`,
      { headers: { 'x-forwarded-for': someAddress() } },
    ],
  ],
  [
    'GET discover, what to do in a header',
    200,
    () => [
      `/api/x402/discover/${serviceId}`,
      {
        headers: { 'x-forwarded-for': someAddress(), 'x-market-brief': encodeURIComponent('Grün 標誌') },
      },
    ],
  ],
  ['POST discover', 200, () => [`/api/x402/discover/${serviceId}`, json({ brief: BRIEF })]],
  ['POST pay', 200, () => [world.payPath(serviceId), json({ brief: BRIEF })]],
  ['POST orders', 201, () => ['/api/orders', json({ service_id: serviceId, brief: BRIEF })]],
]

describe.each(NETWORKS)('on %s', (network) => {
  let buyer: Buyer
  beforeAll(async () => {
    buyer = await world.places[network].newBuyer()
  })

  test.each(ROUTES)('%s: makes one order, paid exactly, without native coin', async (_name, status, ask) => {
    const { treasury, balanceOf, caip2 } = world.places[network]
    const [had, held] = [await buyer.usdc(), await balanceOf(treasury)]
    const [path, init] = ask()
    const response = await buyer.paying(url(path), init)
    const body = (await response.json()) as Record<string, unknown>
    expect([response.status, body]).toEqual([status, expect.anything()])
    expect(had - (await buyer.usdc())).toBe(DUE)
    expect((await balanceOf(treasury)) - held).toBe(DUE)
    expect(await buyer.coin()).toBe(0n)

    const settled = decoded(response.headers, 'payment-response')
    const payer = network === 'solana-mainnet' ? buyer.address : buyer.address.toLowerCase()
    expect(settled).toMatchObject({ success: true, network: caip2, payer })
    const { order_id } = (body['data'] ?? body) as { order_id: string }
    expect(await world.ordersOf(String(settled['transaction']))).toMatchObject([
      { id: order_id, status: 'paid', payment_method: 'x402', payment_network: network },
    ])
  })
})

test('a client with several networks pays on Solana, which is listed first', async () => {
  const [onBase, onSolana] = await Promise.all([
    world.places['base-mainnet'].newBuyer(),
    world.places['solana-mainnet'].newBuyer(),
  ])
  const had = [await onBase.usdc(), await onSolana.usdc()] as const
  const paying = wrapFetchWithPayment(fetch, clientOf(onBase.scheme, onSolana.scheme))
  const response = await paying(url(world.payPath(serviceId)), json({ brief: BRIEF }))
  expect(response.status).toBe(200)
  expect([had[0] - (await onBase.usdc()), had[1] - (await onSolana.usdc())]).toEqual([0n, DUE])
})

test('a client with the default limit does not pay more than 1 USD', async () => {
  const buyer = await world.places['base-mainnet'].newBuyer()
  const timid = wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes: [buyer.scheme] }))
  const had = await buyer.usdc()
  await expect(timid(url(world.payPath(serviceId)), json({ brief: BRIEF }))).rejects.toThrow(
    'Failed to create payment payload',
  )
  expect(await buyer.usdc()).toBe(had)
})

/** Version 1 of the same packages: the requirement is in the body of the 402, the payment in `X-PAYMENT`. */
const FIRST_VERSION = {
  'base-mainnet': async () => {
    const buyer = await world.places['base-mainnet'].newBuyer()
    return { buyer, stock: new x402Client().registerV1('base', new ExactEvmSchemeV1(buyer.account)) }
  },
  'solana-mainnet': async () => {
    const buyer = await world.places['solana-mainnet'].newBuyer()
    const scheme = new ExactSvmSchemeV1(buyer.signer, { rpcUrl: world.solana.chain.chain.url })
    return { buyer, stock: new x402Client().registerV1('solana', scheme) }
  },
} as const

test.each(['base-mainnet', 'solana-mainnet'] as const)(
  'version 1: a client buys through the version 1 route, on %s',
  async (network) => {
    const { buyer, stock } = await FIRST_VERSION[network]()
    const had = await buyer.usdc()
    const paying = wrapFetchWithPayment(fetch, stock.setSpendControls(SPEND_CONTROLS))
    const response = await paying(url(`/api/x402/v1/pay?service_id=${serviceId}`), json({ brief: BRIEF }))
    expect([response.status, await response.json()]).toEqual([
      200,
      { success: true, data: expect.objectContaining({ status: 'paid' }) },
    ])
    expect(had - (await buyer.usdc())).toBe(DUE)
    expect(decoded(response.headers, 'x-payment-response')).toMatchObject({ success: true })
  },
)

test('version 1: requirements match its schema on the networks that it supports', async () => {
  const quote = await world.client().post(`/api/x402/v1/pay?service_id=${serviceId}`, { brief: BRIEF })
  expect(PaymentRequiredV1Schema.parse(quote.body).accepts.map(({ network }) => network)).toEqual([
    'base',
    'solana',
  ])
  expect(quote.headers.has('payment-required')).toBe(false)
})
