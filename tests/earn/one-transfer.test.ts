import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ledgerFaults } from '../ledger/ledger-fixtures.ts'
import { PRICE } from '../orders/order-world.ts'
import { acceptancesOf } from '../support/acceptances.ts'
import { ESCROW } from '../support/bounties.ts'
import type { Reply } from '../support/client.ts'
import { type EarnWorld, giveShares, startEarnWorld } from '../support/earn.ts'
import { rejected } from '../support/rejected.ts'

const ROUNDS = 10

let world: EarnWorld
let buyer: Awaited<ReturnType<EarnWorld['newBuyer']>>
let serviceId: string
beforeAll(async () => {
  world = await startEarnWorld()
  buyer = await world.newBuyer()
  serviceId = (await world.newSeller()).serviceId
  // The first deposit into a pool has a minimum.
  await giveShares(world.market, 'user:somebody')
})
afterAll(() => world?.stop())
beforeEach(() => world.refresh())

const deposit = async (hash: string, amount_usd: string): Promise<Reply> =>
  world.market.client().post('/api/earn/pool/deposit', {
    amount_usd,
    incoming_tx_hash: hash,
    ...(await buyer.proof(`earn.deposit:${hash}`)),
  })

/** A quoted order, and a function that pays it. */
async function newOrder() {
  const { body } = await world.order(buyer, serviceId)
  const id = body.data.id as string
  return { id, pay: (hash: string) => world.act(buyer, id, 'pay', { escrow_tx_hash: hash }) }
}

/** Where the ledger has the money of a transfer. */
async function placesOf(hash: string) {
  const { market } = world
  const transfers = await market.db
    .selectFrom('transfers')
    .select(['purpose', 'amount_micros'])
    .where('reference', '=', hash)
    .execute()
  const purpose = transfers[0]?.purpose ?? ''
  const accounts = await market.db
    .selectFrom('ledger_accounts')
    .select('balance_micros')
    .where('subject', 'in', [purpose, hash])
    .where('kind', '<>', 'world')
    .execute()
  return { transfers, purpose, held: accounts.reduce((sum, one) => sum + one.balance_micros, 0n) }
}

/** One of the two counts, the other is told so, and the ledger has the money once. */
async function expectOne(hash: string, amount: bigint, replies: readonly Reply[]): Promise<string> {
  const [won, lost] = [...replies].sort((a, b) => a.status - b.status)
  expect(won?.status).toBeLessThan(300)
  expect([400, 409]).toContain(lost?.status)
  expect(lost?.body.code).toBe('transfer_used')
  const { transfers, purpose, held } = await placesOf(hash)
  expect(transfers).toHaveLength(1)
  expect(held).toBe(amount)
  return purpose.split(':')[0] ?? ''
}

test(`${ROUNDS} transfers, each named for an order and for a deposit at once: one of both gets it`, async () => {
  const wins: string[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const [hash, { pay }] = [await world.settled(buyer), await newOrder()]
    // The first request that is sent has a small advantage, so each goes first in half of the rounds.
    const requests = [() => pay(hash), () => deposit(hash, '25.00')]
    const replies = await Promise.all((n % 2 === 0 ? requests : requests.toReversed()).map((send) => send()))
    wins.push(await expectOne(hash, PRICE, replies))
  }
  for (const kind of wins) expect(['order', 'earn_deposit']).toContain(kind)
  const paid = await world.market.db.selectFrom('orders').select('id').where('status', '=', 'paid').execute()
  const received = await world.market.db
    .selectFrom('earn_deposits')
    .select('id')
    .where('status', '=', 'received')
  expect(paid).toHaveLength(wins.filter((kind) => kind === 'order').length)
  expect(await received.execute()).toHaveLength(wins.filter((kind) => kind === 'earn_deposit').length)
})

test('a transfer that paid an order is no deposit, and a deposit pays no order', async () => {
  const [ofOrder, ofDeposit] = [await world.settled(buyer), await world.settled(buyer)]
  const [first, second] = [await newOrder(), await newOrder()]
  expect((await first.pay(ofOrder)).status).toBe(200)
  rejected(await deposit(ofOrder, '25.00'), 409, 'transfer_used')
  expect((await deposit(ofDeposit, '25.00')).status).toBe(201)
  rejected(await second.pay(ofDeposit), 409, 'transfer_used')
  for (const hash of [ofOrder, ofDeposit]) expect((await placesOf(hash)).held).toBe(PRICE)
})

test(`${ROUNDS} transfers, each named for a claim of a bounty and for a deposit at once: one of both gets it`, async () => {
  const poster = await acceptancesOf(world)
  for (let n = 0; n < ROUNDS; n++) {
    const [{ claim }, hash] = [await poster.makeClaimed(), await poster.escrow()]
    const body = { amount_usd: '22.00', incoming_tx_hash: hash }
    const proof = await poster.buyer.proof(`earn.deposit:${hash}`)
    const requests = [
      () => poster.accept(claim, hash),
      () => world.market.client().post('/api/earn/pool/deposit', { ...body, ...proof }),
    ]
    const replies = await Promise.all((n % 2 === 0 ? requests : requests.toReversed()).map((send) => send()))
    await expectOne(hash, ESCROW, replies)
  }
})

test('a transfer that its wallet names ten times at once is one deposit', async () => {
  const hash = await world.settled(buyer)
  const replies = await Promise.all(Array.from({ length: 10 }, () => deposit(hash, '25.00')))
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
  expect(new Set(replies.map(({ body }) => body.data.deposit_id)).size).toBe(1)
  expect((await placesOf(hash)).held).toBe(PRICE)
})

test('the ledger has no fault after all of it', async () => {
  expect(await ledgerFaults(world.market.db)).toEqual([])
})
