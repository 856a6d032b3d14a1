import { afterAll, beforeAll, expect, test } from 'vitest'
import { pendingOf } from '../support/named-transfers.ts'
import { whileOn } from '../support/operator.ts'
import { rejected } from '../support/rejected.ts'
import { type OrderWorld, startOrderWorld } from './order-world.ts'

/** 10.00 and the fee on top. */
const DUE = 11_000_000n

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

const orderRow = async (id: string) => ({
  ...(await world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()),
  pending_reference: await pendingOf(world.market.db, id),
})

/** Another caller buys a service by naming the payer's transfer. */
async function buyWithTransferOf(hash: string) {
  const seller = await world.newSeller({ price_usd: '10.00' })
  const path = `/api/x402/pay?service_id=${seller.serviceId}`
  const headers = { 'x-payment': hash }
  const bought = await world.market.client().post(path, { brief: 'For me.' }, { headers })
  expect(bought.status).toBe(200)
  return {
    id: bought.body.data.order_id as string,
    deliver: (id: string) => world.deliver(seller.apiKey, id),
  }
}

async function payerWithTransfer() {
  const payer = await world.newBuyer()
  return { payer, hash: await world.settled(payer, DUE) }
}

async function newOrder(payer: Awaited<ReturnType<OrderWorld['newBuyer']>>): Promise<string> {
  const { serviceId } = await world.newSeller({ price_usd: '11.00' })
  return (await world.order(payer, serviceId)).body.data.id
}

test('pay: returns 503 and leaves the order that uses the transfer as it is while read_only is on', async () => {
  const { payer, hash } = await payerWithTransfer()
  const other = await buyWithTransferOf(hash)
  const own = await newOrder(payer)
  const before = await orderRow(other.id)
  await whileOn(world.market, 'read_only', async () => {
    rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 503, 'read_only')
    expect(await orderRow(other.id)).toEqual(before)
  })
  expect((await world.act(payer, own, 'pay', { escrow_tx_hash: hash })).body.data.status).toBe('paid')
  expect(await orderRow(other.id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
})

test('pay: ends the delivered order that uses the transfer, and pays the own order', async () => {
  const { payer, hash } = await payerWithTransfer()
  const other = await buyWithTransferOf(hash)
  await other.deliver(other.id)
  const own = await newOrder(payer)
  await whileOn(world.market, 'read_only', async () => {
    rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 503, 'read_only')
    expect(await orderRow(other.id)).toMatchObject({ status: 'completed' })
  })
  expect((await world.act(payer, own, 'pay', { escrow_tx_hash: hash })).body.data.status).toBe('paid')
  expect(await orderRow(other.id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
  expect(await orderRow(own)).toMatchObject({ status: 'paid', payment_reference: hash })
})

test('pay: records a transfer for a cancelled order only when read_only is off', async () => {
  const payer = await world.newBuyer()
  const own = await newOrder(payer)
  await world.act(payer, own, 'cancel')
  const hash = await world.settled(payer, DUE)
  const before = await orderRow(own)
  await whileOn(world.market, 'read_only', async () => {
    rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 503, 'read_only')
    expect(await orderRow(own)).toEqual(before)
  })
  rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 400, 'illegal_transition')
  expect(await orderRow(own)).toMatchObject({ status: 'cancelled', pending_reference: hash })
})

test('pay: releases the transfer from another order although the own order is cancelled', async () => {
  const { payer, hash } = await payerWithTransfer()
  const own = await newOrder(payer)
  await world.act(payer, own, 'cancel')
  const other = await buyWithTransferOf(hash)
  rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 400, 'illegal_transition')
  expect(await orderRow(other.id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
  expect(await orderRow(own)).toMatchObject({ status: 'cancelled', pending_reference: hash })
})

test('pay: ends a delivered order that uses the transfer although the own order is cancelled', async () => {
  const { payer, hash } = await payerWithTransfer()
  const own = await newOrder(payer)
  await world.act(payer, own, 'cancel')
  const other = await buyWithTransferOf(hash)
  await other.deliver(other.id)
  rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 400, 'illegal_transition')
  expect(await orderRow(other.id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
})

test('pay: releases the transfer from another order although it is too small for the own order', async () => {
  const { payer, hash } = await payerWithTransfer()
  const other = await buyWithTransferOf(hash)
  const { serviceId } = await world.newSeller({ price_usd: '12.00' })
  const own = (await world.order(payer, serviceId)).body.data.id
  rejected(await world.act(payer, own, 'pay', { escrow_tx_hash: hash }), 400, 'underpaid')
  expect(await orderRow(other.id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
})
