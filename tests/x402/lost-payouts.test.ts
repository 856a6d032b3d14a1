import { createHash } from 'node:crypto'
import { DATABASE_EPOCH } from '@market/database/epoch'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { asHeaders, DESCRIPTION, signed, someName } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'

/** Who a payment is paid to is not decided while a restored database may have lost a payout of it. */

const BRIEF = 'Read the branch called blue.'
const OTHER = 'For me.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n
const UNTIL = new Date('2026-01-01T12:30:00Z')
/** Higher than every block of the test. */
const EVERYTHING = 1_000_000_000n

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())
beforeEach(async () => void (await world.market.db.deleteFrom('payout_guards').execute()))

type Buyer = Awaited<ReturnType<OrderWorld['newBuyer']>>
type Seller = Awaited<ReturnType<OrderWorld['newSeller']>>

const client = () => world.market.client()
const newSeller = () => world.newSeller({ price_usd: '10.00' })

/** What the worker stores when a database epoch begins; null when all that was signed before it has expired. */
async function setAlive(
  height: bigint | null,
  databaseEpoch: typeof DATABASE_EPOCH | string = DATABASE_EPOCH,
) {
  const at = new Date()
  const known = height === null ? null : at
  const alive = {
    database_epoch: databaseEpoch,
    alive_until: height === null ? null : UNTIL,
    alive_height: height,
    claims_known_until: known,
  }
  await world.market.db
    .insertInto('payout_guards')
    .values({ network: 'base-mainnet', horizon: 0n, compared_at: at, updated_at: at, read_at: at, ...alive })
    .onConflict((conflict) => conflict.column('network').doUpdateSet(alive))
    .execute()
}

const buy = (
  { serviceId }: Pick<Seller, 'serviceId'>,
  hash: string,
  brief = BRIEF,
  headers: Record<string, string> = {},
) =>
  client().post(
    `/api/x402/pay?service_id=${serviceId}`,
    { brief },
    { headers: { 'x-payment': hash, ...headers } },
  )

async function signature(buyer: Buyer, hash: string, { serviceId }: Seller, brief: string) {
  const words = createHash('sha256').update(brief).digest('hex')
  return asHeaders(await signed(buyer, `x402.pay:base-mainnet:${hash}:${serviceId}:${words}`))
}

const statusOf = async (id: string) =>
  (await world.market.db.selectFrom('orders').select('status').where('id', '=', id).executeTakeFirstOrThrow())
    .status

const resolve = async (id: string, outcome: 'release' | 'refund') =>
  client().post(
    `/api/admin/orders/${id}/resolve`,
    { outcome, note: 'Heard.' },
    { bearer: await operatorToken(world.market) },
  )

/** A delivered order whose payer is not proven. */
async function delivered() {
  const [payer, seller] = [await world.newBuyer(), await newSeller()]
  const hash = await world.settled(payer, DUE)
  const id: string = (await buy(seller, hash, OTHER)).body.data.order_id
  expect((await world.deliver(seller.apiKey, id)).body.data.status).toBe('completed')
  return { payer, seller, hash, id }
}

const ALIVE = { code: 'authorization_alive', alive_until: UNTIL.toISOString() }

test('409 authorization_alive: the payer’s signature decides nothing until what was lost has expired', async () => {
  const { payer, seller, hash, id } = await delivered()
  const other = await newSeller()
  const before = await statusOf(id)
  await setAlive(EVERYTHING)
  for (const [one, brief] of [
    [seller, OTHER],
    [other, BRIEF],
  ] as const) {
    const reply = await buy(one, hash, brief, await signature(payer, hash, one, brief))
    expect([reply.status, reply.body]).toMatchObject([409, ALIVE])
    expect(reply.body.error).toContain(`until ${UNTIL.toISOString()}`)
  }
  expect(await statusOf(id)).toBe(before)
  await setAlive(null)
  const won = await buy(other, hash, BRIEF, await signature(payer, hash, other, BRIEF))
  expect([won.status, await statusOf(id)]).toEqual([200, 'cancelled'])
})

test('409 authorization_alive: an arbiter decides a contest after what was lost has expired', async () => {
  const { hash, id } = await delivered()
  expect((await buy(await newSeller(), hash)).body.code).toBe('payment_contested')
  await setAlive(EVERYTHING)
  for (const outcome of ['release', 'refund'] as const)
    expect(await resolve(id, outcome)).toMatchObject({ status: 409, body: ALIVE })
  await setAlive(null)
  expect((await resolve(id, 'refund')).body.data).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
})

test('409 authorization_alive: also before the worker has read the chain of a new database epoch', async () => {
  const { payer, seller, hash } = await delivered()
  await setAlive(null, 'an earlier epoch')
  const reply = await buy(seller, hash, OTHER, await signature(payer, hash, seller, OTHER))
  expect([reply.status, reply.body]).toMatchObject([409, { ...ALIVE, alive_until: null }])
})

test('a payment that was made after the restore is decided at once', async () => {
  const { payer, seller, hash } = await delivered()
  await setAlive(0n)
  expect((await buy(seller, hash, OTHER, await signature(payer, hash, seller, OTHER))).status).toBe(200)
})

test('409 authorization_alive: a registration stays as it is until what was lost has expired', async () => {
  const payer = await world.newBuyer()
  const hash = await world.settled(payer, 1_000_000n)
  const register = (name: string, headers: Record<string, string> = {}) => {
    const body = { name, description: DESCRIPTION }
    return client().post('/api/agents/register?pay=x402', body, {
      headers: { 'x-payment': hash, ...headers },
    })
  }
  const theirs = await register(someName())
  const mine = someName()
  const { sign } = (await register(mine)).body as unknown as {
    sign: { message: string; wallet_sig_ts: number }
  }
  const proof = asHeaders({
    ...{ wallet: payer.address, wallet_sig_ts: sign.wallet_sig_ts },
    wallet_sig: await payer.sign(sign.message),
  })
  await setAlive(EVERYTHING)
  expect(await register(mine, proof)).toMatchObject({ status: 409, body: ALIVE })
  const me = () => client().get('/api/agents/me', { bearer: theirs.body.data.api_key })
  expect((await me()).status).toBe(200)
  await setAlive(null)
  expect((await register(mine, proof)).status).toBe(201)
  expect((await me()).status).toBe(401)
})
