import { NETWORKS, type Network } from '@market/kernel/network'
import { type Address, getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DELIVERY } from '../orders/order-world.ts'
import { BASE_URL } from '../support/settings.ts'
import type { Buyer } from './buyers.ts'
import { startWorkerWorld, type WorkerWorld } from './purchase-worker.ts'
import { BRIEF, DUE, json, PRICE } from './purchase-world.ts'

/** The end of purchases with a worker process: the agent is paid its price or the payer is refunded. */

const HOUR = 3_600_000
/** Long, because the worker and three chains share the machine with other tests. */
const TIMEOUT_MS = 300_000

let world: WorkerWorld
beforeAll(async () => {
  world = await startWorkerWorld()
}, TIMEOUT_MS)
afterAll(() => world?.stop(), TIMEOUT_MS)

interface Hired {
  readonly order_id: string
  readonly status_url: string
}

/** Buys with an unmodified client. */
async function buyWithSignature({ paying }: Buyer, serviceId: string): Promise<Hired> {
  const response = await paying(`${world.market.url}${world.payPath(serviceId)}`, json({ brief: BRIEF }))
  const { data } = (await response.json()) as { data: Hired }
  return data
}

const buyWithTransfer = async (buyer: Buyer, serviceId: string): Promise<Hired> =>
  (await world.buyWithTransfer(serviceId, buyer, await buyer.send(DUE))).body.data as Hired

const deliver = async (apiKey: string, { order_id }: Hired) => {
  const reply = await world.client().post(`/api/orders/${order_id}/deliver`, DELIVERY, { bearer: apiKey })
  expect(reply.body.data).toMatchObject({ status: 'completed' })
}

const read = async ({ status_url }: Hired) =>
  (await world.client().get(status_url.replace(BASE_URL, ''))).body.data

const begin = async (network: Network, fields: Record<string, unknown> = {}) => {
  const place = world.places[network]
  const [seller, buyer] = [await world.newSeller(fields), await place.newBuyer()]
  return { place, seller, buyer, payee: seller.payees[network], had: await buyer.usdc() }
}

describe.concurrent('delivered in time', { timeout: TIMEOUT_MS }, () => {
  test.each(NETWORKS)('pays the agent exactly its price on %s and emits the event', async (network) => {
    const { place, seller, buyer, payee, had } = await begin(network)
    const hired = await buyWithSignature(buyer, seller.serviceId)
    await deliver(seller.apiKey, hired)
    await world.eventually(`${payee} has its price`, async () => (await place.balanceOf(payee)) === PRICE)
    expect(await seller.heard(3)).toEqual(['order.created', 'order.completed', 'order.payout_sent'])
    const [created, , sent] = seller.told()
    expect(created).toMatchObject({
      order_id: hired.order_id,
      data: { brief: BRIEF, status: 'paid', payment_method: 'x402' },
    })
    expect(sent).toMatchObject({
      order_id: hired.order_id,
      data: {
        amount_usd: '10.00',
        chain: network.replace('-mainnet', ''),
        tx_hash: expect.any(String),
        destination: network === 'solana-mainnet' ? payee : getAddress(payee),
      },
    })
    expect(had - (await buyer.usdc())).toBe(DUE)
    expect((await read(hired)).order).toMatchObject({ status: 'completed' })
  })

  test('notifies an agent without a payout wallet, and pays when the wallet is set', async () => {
    const { place, seller, buyer, payee } = await begin('base-mainnet')
    const hired = await buyWithSignature(buyer, seller.serviceId)
    await world.base.chain.deny(payee as Address, true)
    await deliver(seller.apiKey, hired)
    expect(await seller.heard(3)).toEqual(['order.created', 'order.completed', 'order.payout_failed'])
    expect(seller.told()[2]).toMatchObject({
      order_id: hired.order_id,
      data: {
        reason: expect.stringContaining('blacklisted'),
        chain: 'base',
        amount_usd: '10.00',
        hint: expect.stringContaining('/request-payout-retry'),
      },
    })
    expect(await place.balanceOf(payee)).toBe(0n)

    await world.base.chain.deny(payee as Address, false)
    const path = `/api/orders/${hired.order_id}/request-payout-retry`
    const retried = await world.client().post(path, {}, { bearer: seller.apiKey })
    expect(retried.status).toBeLessThan(300)
    expect((await seller.heard(4)).at(-1)).toBe('order.payout_sent')
    expect(await place.balanceOf(payee)).toBe(PRICE)
  })
})

// The clock never goes back, so tests that advance it are last.
test('deadline: refunds the full payment to the payer on every network when nothing is delivered', {
  timeout: TIMEOUT_MS,
}, async () => {
  const late = await Promise.all(
    NETWORKS.map(async (network) => {
      const begun = await begin(network, { turnaround_hours: 1 })
      const hired = [
        await buyWithSignature(begun.buyer, begun.seller.serviceId),
        await buyWithTransfer(begun.buyer, begun.seller.serviceId),
      ]
      expect(begun.had - (await begun.buyer.usdc())).toBe(2n * DUE)
      return { ...begun, hired }
    }),
  )
  await world.market.advance(25 * HOUR)
  await Promise.all(
    late.map(async ({ buyer, had, hired, seller, place, payee }) => {
      await world.eventually(`${buyer.address} has all of it back`, async () => (await buyer.usdc()) === had)
      for (const one of hired)
        await world.eventually(
          `${one.order_id} says so`,
          async () => (await read(one)).refund?.status === 'sent',
        )
      expect((await read(hired[0] as Hired)).order.status).toBe('cancelled')
      expect((await seller.heard(4)).toSorted()).toEqual([
        'order.cancelled',
        'order.cancelled',
        'order.created',
        'order.created',
      ])
      expect(await place.balanceOf(payee)).toBe(0n)
    }),
  )
})
