import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { BRIEF, makeOrder, orderAgain } from '../support/orders.ts'
import { rejected } from '../support/rejected.ts'
import { type OrderWorld, type Parties, startOrderWorld } from './order-world.ts'

/** Orders of an agent that are paid from its owner's wallets. */

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

const client = () => world.market.client()
const pathOf = (id: string) => `/api/orders/${id}`
const rowOf = (id: string) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** An order of a buying agent at 25.00 USD. */
async function orderBy(agent: { readonly apiKey: string }) {
  const { service } = await makeOrder(world.market, { price_usd: '25.00' })
  const id = await orderAgain(world.market, service.id, { bearer: agent.apiKey })
  const pay = async (escrow_tx_hash: string) =>
    client().patch(pathOf(id), { action: 'pay', escrow_tx_hash }, { bearer: agent.apiKey })
  return { id, pay }
}

test('200: an agent pays from the wallet of its owner with its API key; the payout waits until that wallet signs', async () => {
  const [owner, stranger] = [await world.newBuyer(), await world.newBuyer()]
  const agent = await makeOwnedAgent(world.market, {}, owner)
  const { id, pay } = await orderBy(agent)
  rejected(await pay(await world.settled(stranger)), 400, 'wrong_payer')
  const hash = await world.settled(owner)
  expect((await pay(hash)).body.data).toMatchObject({ status: 'paid' })
  expect(await isProven(id)).toBe(false)
  const told = await client().get('/api/notifications', { headers: asHeaders(await owner.proof('session')) })
  expect(told.body.data[0]).toMatchObject({ kind: 'order.paid_from_owner_wallet' })
  const proof = await owner.proof(`orders.pay:${id}`)
  const again = { action: 'pay', escrow_tx_hash: hash, ...proof }
  const signed = await client().patch(pathOf(id), again, { bearer: agent.apiKey })
  expect([signed.status, await isProven(id)]).toEqual([200, true])
})

test('200: an owner takes back a transfer that an API key used, for an own order and for a purchase that the wallet signs', async () => {
  for (const isOrder of [true, false]) {
    const owner = await world.newBuyer()
    const taken = await orderBy(await makeOwnedAgent(world.market, {}, owner))
    const seller = await world.newSeller({ price_usd: isOrder ? '25.00' : '10.00' })
    const hash = await world.settled(owner)
    expect((await taken.pay(hash)).body.data.status).toBe('paid')
    const words = createHash('sha256').update(BRIEF).digest('hex')
    const purpose = `x402.pay:base-mainnet:${hash}:${seller.serviceId}:${words}`
    const wanted = { service_id: seller.serviceId, brief: BRIEF }
    const bought = isOrder
      ? await payOwn(owner, seller.serviceId, hash)
      : await client().post(
          '/api/orders',
          { ...wanted, ...(await owner.proof(purpose)) },
          { headers: { 'x-payment': hash } },
        )
    expect([isOrder, bought.status]).toEqual([isOrder, isOrder ? 200 : 201])
    expect(bought.body.data.status).toBe('paid')
    expect((await rowOf(taken.id)).status).toBe('cancelled')
  }
})

const isProven = async (id: string) => (await rowOf(id)).payer_proven

async function payOwn(owner: Parties['buyer'], serviceId: string, hash: string) {
  const placed = await world.order(owner, serviceId)
  return world.act(owner, placed.body.data.id, 'pay', { escrow_tx_hash: hash })
}

test('200: an agent of a user pays from a wallet that is linked to the account', async () => {
  const linked = await world.newBuyer()
  const { token } = await makeUser(world.market, { wallets: [linked.address] })
  const { pay } = await orderBy(await makeAgent(world.market, { idp_access_token: token }))
  expect((await pay(await world.settled(linked))).body.data).toMatchObject({ status: 'paid' })
})

test('404 and 409: an API key gets no right over the orders of its owner, nor a transfer that was named for them', async () => {
  const owner = await world.newBuyer()
  const agent = await makeOwnedAgent(world.market, {}, owner)
  const placed = await world.order(owner, (await world.newSeller()).serviceId)
  const owned = placed.body.data.id as string
  const hash = `0x${'6'.repeat(64)}`
  for (const action of ['pay', 'accept', 'cancel'])
    rejected(await world.byKey(agent.apiKey, owned, action, { escrow_tx_hash: hash }), 404, 'order_not_found')
  rejected(await client().get(pathOf(owned), { bearer: agent.apiKey }), 404, 'order_not_found')
  expect((await world.act(owner, owned, 'pay', { escrow_tx_hash: hash })).status).toBe(202)
  const { id, pay } = await orderBy(agent)
  rejected(await pay(hash), 409, 'transfer_used')
  const other = `0x${'7'.repeat(64)}`
  expect([(await pay(other)).status, (await pay(other)).status]).toEqual([202, 202])
  const proof = await owner.proof(`orders.pay:${id}`)
  const body = { action: 'pay', escrow_tx_hash: hash, ...proof }
  expect((await client().patch(pathOf(id), body, { bearer: agent.apiKey })).status).toBe(202)
})

test('200: an agent without an owner pays with a wallet that also signs the request', async () => {
  const agent = await makeAgent(world.market)
  const { id } = await orderBy(agent)
  const wallet = await world.newBuyer()
  const escrow_tx_hash = await world.settled(wallet)
  const body = { action: 'pay', escrow_tx_hash }
  const proof = await wallet.proof(`orders.pay:${id}`)
  const ask = { bearer: agent.apiKey }
  rejected(await client().patch(pathOf(id), body, ask), 400, 'payer_unknown')
  const paid = await client().patch(pathOf(id), { ...body, ...proof }, ask)
  expect(paid.body.data).toMatchObject({ status: 'paid', escrow_tx_hash })
})
