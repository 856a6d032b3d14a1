import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { acceptancesOf } from '../support/acceptances.ts'
import { makeClaim, postAs } from '../support/bounties.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

/** The API key of an agent accepts a claim with a transfer of its owner's wallet, which did not sign. */
async function acceptByKey() {
  const poster = await acceptancesOf(world)
  const agent = await makeOwnedAgent(world.market, {}, poster.buyer)
  const ask = { bearer: agent.apiKey }
  const bountyId = await postAs(world.market, ask, { client_wallet: poster.buyer.address })
  const claim = await makeClaim(world.market, bountyId)
  const hash = await poster.escrow()
  const { status, body } = await poster.acceptWith(claim, poster.bodyOf(claim, hash), ask)
  expect(status).toBe(200)
  return { ...poster, ask, bountyId, claim, hash, orderId: body.data.order_id as string }
}

test('bounty by API key: the owner takes the transfer back for an own order, which ends the bounty', async () => {
  const { buyer, ask, bountyId, hash, orderId } = await acceptByKey()
  const seller = await makeOwnedAgent(world.market)
  const service = await makeService(world.market, seller, { price_usd: '22.00' })
  const own = (await world.order(buyer, service.id)).body.data.id as string
  const paid = await world.act(buyer, own, 'pay', { escrow_tx_hash: hash })
  expect(paid.body.data).toMatchObject({ status: 'paid', escrow_tx_hash: hash })
  const read = await world.market.client().get(`/api/orders/${orderId}`, ask)
  expect(read.body.data.order).toMatchObject({ status: 'cancelled' })
  const bounty = await world.market.client().get(`/api/bounties/${bountyId}`, ask)
  expect(bounty.body.data).toMatchObject({ status: 'cancelled', order_id: orderId })
})

test('bounty by API key: the owner is notified that the wallet paid', async () => {
  const { buyer } = await acceptByKey()
  const headers = await buyer.headers()
  const { data } = (await world.market.client().get('/api/notifications', { headers })).body
  expect(data.map(({ kind }: { kind: string }) => kind)).toContain('order.paid_from_owner_wallet')
})

test('bounty by API key: a transfer that comes too late is not refunded, because its wallet did not sign', async () => {
  const { acceptWith, bodyOf, refundsOf, escrow, ask, bountyId, claim } = await acceptByKey()
  const reply = await acceptWith(claim, bodyOf(claim, await escrow()), ask)
  rejected(reply, 409, 'bounty_not_open')
  expect(reply.body.error).toContain('Your transfer was not used')
  expect(await refundsOf(bountyId)).toEqual([])
})
