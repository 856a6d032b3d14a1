import { DAY, MINUTE } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DELIVERY } from '../orders/order-world.ts'
import { asHeaders } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'
import { BASE_URL } from '../support/settings.ts'
import type { Buyer } from './buyers.ts'
import { startWorkerWorld, type WorkerWorld } from './purchase-worker.ts'
import { BRIEF, DUE, PRICE } from './purchase-world.ts'

/**
 * A thief reads the hash of a transfer from the chain and names it for a listing of its own, before the buyer does.
 * With a worker process and real chains: no thief gets any USDC, and every victim has the service or the money.
 */

/** `THEFTS` in the gauntlet: 50. */
const THEFTS = Number(process.env['THEFTS'] ?? 8)
const TIMEOUT_MS = 120_000 + THEFTS * 20_000

let world: WorkerWorld
beforeAll(async () => {
  world = await startWorkerWorld()
}, TIMEOUT_MS)
afterAll(() => world?.stop(), TIMEOUT_MS)

type Seller = Awaited<ReturnType<WorkerWorld['newSeller']>>

interface Theft {
  readonly victim: Buyer
  readonly had: bigint
  readonly hash: string
  readonly thief: Seller
  readonly isDelivered: boolean
  readonly isSigner: boolean
  readonly stolenId: string
  /** The response to the victim's naming. */
  readonly sign: { wallet: string; message: string; wallet_sig_ts: number }
}

const deliver = ({ apiKey }: Seller, orderId: string) =>
  world.client().post(`/api/orders/${orderId}/deliver`, DELIVERY, { bearer: apiKey })

async function steal(n: number, seller: Seller): Promise<Theft> {
  const place = world.places[n % 3 === 0 ? 'solana-mainnet' : 'base-mainnet']
  const [victim, thief] = [await place.newBuyer(), await world.newSeller({ price_usd: '10.00' })]
  const had = await victim.usdc()
  const hash = await victim.send(DUE)
  const stolen = await world.buyWithTransfer(thief.serviceId, victim, hash, { brief: 'For me.' })
  expect(stolen.status).toBe(200)
  const stolenId = String(stolen.body.data.order_id)
  const isDelivered = n % 2 === 0
  if (isDelivered) expect((await deliver(thief, stolenId)).body.data.status).toBe('completed')
  const named = await world.buyWithTransfer(seller.serviceId, victim, hash)
  expect([named.status, named.body.code]).toEqual([409, 'payment_contested'])
  expect((await deliver(thief, stolenId)).status).toBeGreaterThanOrEqual(400)
  const isSigner = n % 4 < 2
  return {
    victim,
    had,
    hash,
    thief,
    isDelivered,
    isSigner,
    stolenId,
    sign: named.body['sign'] as Theft['sign'],
  }
}

async function signAndBuy({ victim, hash, sign }: Theft, seller: Seller): Promise<string> {
  const headers = asHeaders({
    wallet: sign.wallet,
    wallet_sig: await victim.sign(sign.message),
    wallet_sig_ts: sign.wallet_sig_ts,
  })
  const reply = await world.buyWithTransfer(seller.serviceId, victim, hash, { headers })
  expect([reply.status, reply.body.data?.status]).toEqual([200, 'paid'])
  const page = await world.client().get(String(reply.body.data.status_url).replace(BASE_URL, ''))
  expect(page.body.data.order).toMatchObject({ brief: BRIEF, status: 'paid', payer_proven: true })
  return String(reply.body.data.order_id)
}

test('thefts: no thief gets any USDC; who signs has the order at once, who does nothing is refunded after 7 days, delivered ones are before an arbiter', {
  timeout: TIMEOUT_MS,
}, async () => {
  const seller = await world.newSeller({ price_usd: '10.00' })
  // Nobody contests this one: its seller is paid when the wait is over, and not before.
  const waiting = await world.newSeller({ price_usd: '10.00' })
  const base = world.places['base-mainnet']
  const paidToWaiting = () => base.balanceOf(waiting.payees['base-mainnet'])
  const honest = await base.newBuyer()
  const unbound = await world.buyWithTransfer(waiting.serviceId, honest, await honest.send(DUE))
  expect((await deliver(waiting, unbound.body.data.order_id)).body.data.status).toBe('completed')
  const thefts: Theft[] = []
  const bought: string[] = []
  for (let n = 0; n < THEFTS; n++) {
    const theft = await steal(n, seller)
    thefts.push(theft)
    // At once: the text to sign is valid for five minutes.
    if (theft.isSigner) bought.push(await signAndBuy(theft, seller))
  }
  // An honest order is delivered and paid without a wait, because its payer is proven.
  for (const id of bought) expect((await deliver(seller, id)).body.data.status).toBe('completed')
  await world.eventually('the seller is paid for every signed purchase', async () => {
    const paid = await Promise.all(
      (['base-mainnet', 'solana-mainnet'] as const).map((network) =>
        world.places[network].balanceOf(seller.payees[network]),
      ),
    )
    return paid.reduce((sum, one) => sum + one, 0n) === PRICE * BigInt(bought.length)
  })

  // The worker has sent payouts that were requested later.
  expect(await paidToWaiting()).toBe(0n)
  await world.market.advance(7 * DAY + MINUTE)
  await world.eventually('the unbound purchase is paid', async () => (await paidToWaiting()) === PRICE)
  const silent = thefts.filter(({ isSigner, isDelivered }) => !isSigner && !isDelivered)
  for (const { victim, had } of silent)
    await world.eventually(`${victim.address} has all of it back`, async () => (await victim.usdc()) === had)

  const judged = thefts.filter(({ isSigner, isDelivered }) => !isSigner && isDelivered)
  const bearer = await operatorToken(world.market)
  const { data } = (await world.client().get('/api/admin/contests?limit=100', { bearer })).body
  expect(data).toHaveLength(judged.length)
  for (const { stolenId, thief, hash } of judged) {
    const contest = data.find(({ order_id }: { order_id: string }) => order_id === stolenId)
    expect(contest).toMatchObject({
      tx_hash: hash,
      ends_at: null,
      namings: [
        { subject: `service:${thief.serviceId}`, request: { brief: 'For me.' } },
        { subject: `service:${seller.serviceId}`, request: { brief: BRIEF } },
      ],
    })
    const [first, second] = contest.namings.map(({ named_at }: { named_at: string }) => Date.parse(named_at))
    expect(first).toBeLessThanOrEqual(second)
    const path = `/api/admin/orders/${stolenId}/resolve`
    const decided = await world
      .client()
      .post(path, { outcome: 'refund', note: 'Two wallets named it.' }, { bearer })
    expect(decided.body.data).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
  }
  for (const { victim, had } of judged)
    await world.eventually(`${victim.address} has all of it back`, async () => (await victim.usdc()) === had)

  for (const { victim, had, isSigner } of thefts)
    expect(had - (await victim.usdc())).toBe(isSigner ? DUE : 0n)
  for (const { thief } of thefts)
    for (const network of ['base-mainnet', 'solana-mainnet', 'alt-mainnet'] as const)
      expect(await world.places[network].balanceOf(thief.payees[network])).toBe(0n)
})
