import { randomUUID } from 'node:crypto'
import { HOUR } from '@market/kernel/clock'
import { sql } from 'kysely'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../support/client.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import { until } from '../support/until.ts'
import type { Buyer } from './buyers.ts'
import { encodePayment, opened, proofIn } from './crafted-payments.ts'
import { BRIEF, DUE, decoded, json, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** An API client that lost the response repeats the request with the same Idempotency-Key and a newly signed payment. */

const OTHER = 'Something else.'
const USED = { status: 409, body: { code: 'payment_already_used' } }

let world: PurchaseWorld
let serviceId: string
let twinId: string
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
  twinId = (await world.newSeller()).serviceId
})
afterAll(() => world.stop())

/** A key of a caller without an account has at least 32 characters. */
const long = (key: string) => key.padEnd(32, '.')
const onBase = () => world.places['base-mainnet'].newBuyer()
const sign = (buyer: Buyer) => world.signPayment(serviceId, buyer)
interface Changes {
  readonly brief?: string
  readonly id?: string
  readonly api?: Pick<PurchaseWorld['market'], 'client'>
}
const hire = (
  payment: string,
  key?: string,
  { brief = BRIEF, id = serviceId, api = world.market }: Changes = {},
): Promise<Reply> =>
  api.client().post(
    world.payPath(id),
    { brief },
    {
      headers: { 'payment-signature': payment, ...(key !== undefined && { 'idempotency-key': long(key) }) },
    },
  )
const paidBy = async (buyer: Buyer, work: () => Promise<unknown>): Promise<bigint> => {
  const had = await buyer.usdc()
  await work()
  return had - (await buyer.usdc())
}
const isReplay = ({ headers }: Pick<Reply, 'headers'>) => headers.get('idempotent-replayed') === 'true'
const orderIn = ({ body }: Reply) => String(body.data.order_id)

describe.each(['base-mainnet', 'solana-mainnet'] as const)('on %s', (network) => {
  test('an unmodified client that repeats a request with one Idempotency-Key pays once and gets the same order', async () => {
    const buyer = await world.places[network].newBuyer()
    const ask = async () => {
      const request = json({ brief: BRIEF }, { 'idempotency-key': long('job-1') })
      const response = await buyer.paying(`${world.market.url}${world.payPath(serviceId)}`, request)
      const settled = decoded(response.headers, 'payment-response')
      return { status: response.status, headers: response.headers, body: await response.json(), settled }
    }
    const first = await ask()
    expect([first.status, isReplay(first)]).toEqual([200, false])
    const paid = await paidBy(buyer, async () => {
      const again = await ask()
      expect([again.status, isReplay(again)]).toEqual([200, true])
      expect([again.body, again.settled]).toEqual([first.body, first.settled])
    })
    expect(paid).toBe(0n)
  })

  test('a replay returns the order to a buyer without remaining balance', async () => {
    const buyer = await world.places[network].newBuyer()
    await buyer.send((await buyer.usdc()) - DUE)
    const [first, second] = [await sign(buyer), await sign(buyer)]
    const bought = await hire(first, 'all-of-it')
    expect([bought.status, await buyer.usdc()]).toEqual([200, 0n])
    const again = await hire(second, 'all-of-it')
    expect([again.status, isReplay(again), orderIn(again)]).toEqual([200, true, orderIn(bought)])
    expect((await hire(second, 'another')).status).toBe(402)
  })
})

test('payment identifier: works like an Idempotency-Key', async () => {
  const buyer = await onBase()
  const id = randomUUID().replaceAll('-', '')
  const named = async () =>
    encodePayment({
      ...opened(await sign(buyer)),
      extensions: { 'payment-identifier': { info: { required: false, id } } },
    })
  const first = await hire(await named())
  const again = await named()
  expect(await paidBy(buyer, async () => expect(isReplay(await hire(again))).toBe(true))).toBe(0n)
  expect(await hire(again, undefined, { brief: OTHER })).toMatchObject(USED)
  expect(first.status).toBe(200)
})

test('Idempotency-Key: with another brief or service it is rejected, and nothing is charged', async () => {
  const buyer = await onBase()
  expect((await hire(await sign(buyer), 'job-1')).status).toBe(200)
  const fresh = await sign(buyer)
  const paid = await paidBy(buyer, async () => {
    expect(await hire(fresh, 'job-1', { brief: OTHER })).toMatchObject(USED)
    expect(await hire(fresh, 'job-1', { id: twinId })).toMatchObject(USED)
  })
  expect(paid).toBe(0n)
  // The uncharged payment is still valid with its own key.
  expect(await paidBy(buyer, async () => expect((await hire(fresh, 'job-2')).status).toBe(200))).toBe(DUE)
})

/** Starts all requests and continues them only when each waits for the lock of the wallet. */
async function atOnce(buyer: Buyer, payments: readonly string[], key: string): Promise<Reply[]> {
  const { db } = world.market
  const name = `purchases:${buyer.network}:${buyer.address.toLowerCase()}`
  const { begun } = await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    const replies = payments.map((payment) => hire(payment, key))
    await until('all of them wait', async () => {
      const { rows } = await sql<{ waiting: bigint }>`
        select count(*) as waiting from pg_locks join pg_database d on d.oid = database
        where datname = current_database() and locktype = 'advisory' and not granted`.execute(db)
      return Number(rows[0]?.waiting) === payments.length
    })
    return { begun: replies }
  })
  return Promise.all(begun)
}

test('Idempotency-Key: eight concurrent payments with one key make one order and one transfer', async () => {
  const buyer = await onBase()
  const payments: string[] = []
  for (let n = 0; n < 8; n++) payments.push(await sign(buyer))
  const paid = await paidBy(buyer, async () => {
    const replies = await atOnce(buyer, payments, 'at-once')
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(replies.map(orderIn)).size).toBe(1)
    expect(replies.filter(isReplay)).toHaveLength(7)
  })
  expect(paid).toBe(DUE)
})

test('Idempotency-Key: a second payment waits for the pending first one and is not broadcast', async () => {
  const purchaseOf = (payment: string) =>
    world.market.db
      .selectFrom('purchases')
      .select(['state', 'reference'])
      .where('proof', '=', proofIn(payment))
      .executeTakeFirst()
  const buyer = await onBase()
  const [first, second] = [await sign(buyer), await sign(buyer)]
  await world.base.chain.automine(false)
  const api = await world.market.startApi(SHORT_WAIT)
  const asked = hire(first, 'slow', { api })
  await until('the first was sent', async () => (await purchaseOf(first))?.state === 'sent')
  const [waiting, following] = await Promise.all([asked, hire(second, 'slow', { api })])
  await world.base.chain.automine(true)
  await world.base.chain.mine(2)
  expect([waiting.status, following.status]).toEqual([202, 202])
  expect(following.body.data).toEqual(waiting.body.data)
  const done = await hire(second, 'slow')
  expect([done.status, isReplay(done)]).toEqual([200, true])
  expect(await purchaseOf(second)).toEqual({ state: 'void', reference: null })
})

test('Idempotency-Key: another caller without the payer’s signature can neither see nor use its keys', async () => {
  const [victim, otherUser] = [await onBase(), await onBase()]
  const forge = async () => {
    const payment = opened(await sign(otherUser))
    const authorization = { ...payment.payload.authorization, from: victim.address }
    return encodePayment({ ...payment, payload: { ...payment.payload, authorization } })
  }
  const rejected = { status: 402, body: { error: 'invalid_exact_evm_signature' } }
  expect(await hire(await forge(), 'job-7')).toMatchObject(rejected)
  const bought = await hire(await sign(victim), 'job-7')
  expect([bought.status, isReplay(bought)]).toEqual([200, false])
  // The same response for a used key, for another brief and for an unused key.
  expect(await hire(await forge(), 'job-7')).toMatchObject(rejected)
  expect(await hire(await forge(), 'job-7', { brief: OTHER })).toMatchObject(rejected)
  expect(await hire(await forge(), 'job-8')).toMatchObject(rejected)
  await world.base.chain.fund(victim.account.address)
  const elsewhere = privateKeyToAddress(generatePrivateKey())
  await world.base.chain.transfer(victim.account, elsewhere, await victim.usdc())
  expect(await hire(await forge(), 'job-7')).toMatchObject(rejected)
})

test('Idempotency-Key: keys of two payers are independent, and a key can be reused after a day', async () => {
  const [buyer, other] = [await onBase(), await onBase()]
  const bought = await hire(await sign(buyer), 'daily')
  const theirs = await hire(await sign(other), 'daily')
  expect([theirs.status, isReplay(theirs)]).toEqual([200, false])
  const row = world.market.db.updateTable('purchases').where('result_id', '=', orderIn(bought))
  await row.set({ created_at: new Date(world.market.now() - 23 * HOUR) }).execute()
  expect(isReplay(await hire(await sign(buyer), 'daily'))).toBe(true)
  await row.set({ created_at: new Date(world.market.now() - 25 * HOUR) }).execute()
  const nextDay = await hire(await sign(buyer), 'daily')
  expect([nextDay.status, isReplay(nextDay)]).toEqual([200, false])
  expect(orderIn(nextDay)).not.toBe(orderIn(bought))
})

test('Idempotency-Key: can be reused after its payment failed on chain', async () => {
  const buyer = await onBase()
  const bought = await hire(await sign(buyer), 'twice')
  await world.market.db
    .updateTable('purchases')
    .where('result_id', '=', orderIn(bought))
    .set({ state: 'void', result_id: null, why: 'reverted' })
    .execute()
  const again = await hire(await sign(buyer), 'twice')
  expect([again.status, isReplay(again)]).toEqual([200, false])
})

test('without an Idempotency-Key each payment is a separate purchase', async () => {
  const buyer = await onBase()
  const paid = await paidBy(buyer, async () => {
    for (let n = 0; n < 2; n++) expect((await hire(await sign(buyer))).status).toBe(200)
  })
  expect(paid).toBe(2n * DUE)
})
