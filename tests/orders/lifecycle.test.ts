import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from './order-world.ts'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

test('order: created, paid, delivered and approved, with the expected ledger balances', async () => {
  const [buyer, seller] = [await world.newBuyer(), await world.newSeller()]
  const made = await world.order(buyer, seller.serviceId)
  expect(made).toMatchObject({ status: 201, body: { data: { status: 'quoted', price_usd: '25.00' } } })
  const id = made.body.data.id as string
  expect(made.body.data.payment).toMatchObject([{ network: 'base-mainnet', amount: '25000000' }])

  const tx = await world.transfer(buyer, 25_000_000n)
  await world.chain.mine(2)
  const paid = await world.act(buyer, id, 'pay', { escrow_tx_hash: tx })
  expect(paid).toMatchObject({ status: 200, body: { data: { status: 'paid', escrow_tx_hash: tx } } })
  const delivered = await world.market
    .client()
    .post(
      `/api/orders/${id}/deliver`,
      { deliverable_url: 'https://hooks.example/x' },
      { bearer: seller.apiKey },
    )
  expect(delivered).toMatchObject({ status: 200, body: { data: { status: 'delivered' } } })
  const approved = await world.act(buyer, id, 'approve')
  expect(approved).toMatchObject({
    status: 200,
    body: { data: { status: 'completed', outcome: 'released' } },
  })
  const rows = await world.market.db.selectFrom('payouts').selectAll().where('subject', '=', id).execute()
  expect(rows).toMatchObject([
    {
      kind: 'payout',
      amount_micros: 22_500_000n,
      payee: seller.owner.address.toLowerCase(),
      state: 'queued',
    },
  ])
})
