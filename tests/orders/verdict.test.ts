import { findAgentById, paidAddresses } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findPayment } from '@market/money/payments'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import { contestOrder } from '@market/trade/orders'
import { sql } from 'kysely'
import { afterAll, assert, beforeAll, expect, test } from 'vitest'
import { termsOf } from '../support/payout-kinds.ts'
import { placePurchase } from '../support/place-purchase.ts'
import {
  NETWORK,
  newBuyer,
  type OrderFixture,
  openOrderFixture,
  PRICE,
  type Seller,
} from './order-fixture.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

let fixture: OrderFixture
let seller: Seller
beforeAll(async () => {
  fixture = await openOrderFixture()
  seller = await fixture.makeSeller()
})
afterAll(() => fixture.stop())

const partOf = async (id: OrderId) =>
  (
    await fixture.db
      .selectFrom('orders')
      .select('agent_part_micros')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).agent_part_micros

const disputed = async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  await fixture.dispute(buyer, id)
  return id
}

test('agent_part_micros: every command that ends an order stores its decision', async () => {
  const buyer = newBuyer()
  const open = await fixture.delivered(seller, buyer)
  expect(await partOf(open)).toBeNull()
  await fixture.approve(buyer, open)
  expect(await partOf(open)).toBe(PRICE)

  const released = await fixture.delivered(seller, buyer)
  fixture.clock.advance(48 * 60 * MINUTE)
  await fixture.sweepDue()
  expect(await partOf(released)).toBe(PRICE)

  const cancelled = await fixture.paid(seller, buyer)
  await fixture.cancel(buyer, cancelled)
  const unpaid = (await fixture.create(seller, buyer)).id
  await fixture.cancel(buyer, unpaid)
  const refunded = await disputed()
  await fixture.refund(seller, refunded)
  const reversed = await disputed()
  await fixture.resolve(reversed, { outcome: 'refund' })
  for (const id of [cancelled, unpaid, refunded, reversed]) expect(await partOf(id)).toBe(0n)

  const awarded = await disputed()
  await fixture.resolve(awarded, { outcome: 'release' })
  expect(await partOf(awarded)).toBe(PRICE)
  const split = await disputed()
  await fixture.resolve(split, { outcome: 'split', agentShareBps: 3_000 })
  expect(await partOf(split)).toBe((PRICE * 3n) / 10n)
  await fixture.expectWhole([open, released, cancelled, refunded, reversed, awarded, split])
})

test('reorganization: an arbiter’s split counts again when the transfer is included again', async () => {
  const buyer = newBuyer()
  const reference = fixture.send(buyer.wallet.key, PRICE)
  const question = { reference, minAmount: PRICE, notBefore: new Date(0), notAfter: new Date(8.64e15) }
  const transfer = await findPayment(fixture.ctx, NETWORK, question)
  assert(transfer !== undefined)
  const paid = { network: NETWORK, transfer, due: PRICE, payoutWaitMs: 24 * 60 * MINUTE } as const
  const { id } = await fixture.ctx.transact((tx) => placePurchase(fixture.ctx, tx, seller.listing, paid))
  await fixture.deliver(seller, id)
  const [waiting] = await payoutsOf(id)
  assert(waiting !== undefined)
  // The order decides about the wait, so that a row without it is not paid.
  const { notBefore } = waiting
  expect(await termsNow({ ...waiting, notBefore: null })).toMatchObject({
    wait: { notBefore, contestedAt: null },
  })
  await fixture.ctx.transact((tx) => contestOrder(fixture.ctx, tx, id))
  expect(await termsNow(waiting)).toMatchObject({ wait: { contestedAt: expect.any(Date) } })
  await fixture.resolve(id, { outcome: 'split', agentShareBps: 2_500 })
  const [before] = await fixture.moneyOf([id])
  expect(before).toMatchObject({ outcome: 'split', escrow: 0n, refund: (PRICE * 3n) / 4n })
  fixture.chain.reorg(1)
  fixture.chain.finalize(0)
  fixture.clock.advance(6 * SECOND)
  await fixture.recheck()
  expect((await fixture.read(id)).status).toBe('accepted')
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  fixture.clock.advance(3 * SECOND)
  await fixture.finish()
  expect(await fixture.moneyOf([id])).toEqual([before])
  expect(await partOf(id)).toBe(PRICE / 4n)
})

const termsNow = (payout: Payout) => fixture.ctx.transact((tx) => termsOf(fixture.ctx, tx, payout))

const payoutsOf = async (id: OrderId, ...subjects: string[]): Promise<Payout[]> => {
  const found = await Promise.all([
    findPayoutOf(fixture.db, 'payout', id),
    findPayoutOf(fixture.db, 'refund', id),
    ...subjects.map((subject) => findPayoutOf(fixture.db, 'surplus', subject)),
  ])
  return found.filter((payout) => payout !== undefined)
}

test('payout terms: order and transfer require exactly the payouts that were requested', async () => {
  const buyer = newBuyer()
  const { id: overpaid } = await fixture.create(seller, buyer)
  await fixture.pay(buyer, overpaid, fixture.send(buyer.wallet.key, usdc(PRICE + 2_000_000n)))
  await fixture.deliver(seller, overpaid)
  await fixture.approve(buyer, overpaid)
  const split = await disputed()
  await fixture.resolve(split, { outcome: 'split', agentShareBps: 3_333 })
  const cancelled = await fixture.paid(seller, buyer)
  await fixture.cancel(buyer, cancelled)
  const payouts = [
    ...(await payoutsOf(overpaid, `${overpaid}:surplus:${NETWORK}`)),
    ...(await payoutsOf(split)),
    ...(await payoutsOf(cancelled)),
  ]
  expect(payouts.map(({ kind }) => kind)).toEqual(['payout', 'surplus', 'payout', 'refund', 'refund'])
  for (const payout of payouts) {
    const terms = await termsNow(payout)
    expect(terms).toMatchObject({ network: NETWORK, amount: payout.amount })
    if (payout.payee !== null) expect(terms?.payees).toContain(payout.payee)
  }
})

test('payout terms: nothing is due for an order that was not decided, of another kind, or for a changed subject', async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  const purpose = { kind: 'order', id } as const
  const row = { kind: 'payout', subject: id, purpose, network: NETWORK } as Payout
  expect(await termsNow(row)).toMatchObject({ amount: 0n })
  expect(await termsNow({ ...row, purpose: null })).toBeUndefined()
  await fixture.approve(buyer, id)
  const [payout] = await payoutsOf(id)
  assert(payout !== undefined)
  expect(await termsNow({ ...payout, kind: 'refund' })).toMatchObject({ amount: 0n })
  expect(await termsNow({ ...payout, subject: `${id}-2` })).toBeUndefined()
  expect((await termsNow(payout))?.payees).not.toContain(buyer.wallet.key)
})

test('payout terms: on another EVM network neither a wallet that was proven on Base nor payout_address_base is a payee', async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  await fixture.approve(buyer, id)
  const [payout] = await payoutsOf(id)
  assert(payout !== undefined && payout.payee !== null)
  const { agentId } = seller.listing
  const payeesOn = (network: Network) =>
    fixture.ctx.transact(async (tx) => {
      const agent = await findAgentById(tx as never, agentId)
      return (await paidAddresses(fixture.ctx, tx, agent, network)).payees
    })
  const settle = (fields: { owner_proven_by?: string; payout_address_base?: string | null }) =>
    fixture.db.transaction().execute(async (tx) => {
      // A trigger keeps how an owner wallet was proven.
      await sql`set local session_replication_role = 'replica'`.execute(tx)
      await tx.updateTable('agents').set(fields).where('id', '=', agentId).execute()
      // As if the worker had not seen the agent yet.
      await tx.deleteFrom('payout_addresses').where('agent_id', '=', agentId).execute()
    })
  expect(await payeesOn('alt-mainnet')).toContain(payout.payee)
  await settle({ owner_proven_by: NETWORK, payout_address_base: `0x${'b'.repeat(40)}` })
  expect(await payeesOn('alt-mainnet')).toEqual([])
  expect(await payeesOn(NETWORK)).toEqual(expect.arrayContaining([payout.payee, `0x${'b'.repeat(40)}`]))
  await settle({ owner_proven_by: 'key', payout_address_base: null })
})
