import { ApiError } from '@market/kernel/api-error'
import { HOUR, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import {
  checkIntent,
  checkIntents,
  findIntent,
  type Intent,
  type IntentHandler,
  isAwaited,
  openIntent,
  type Purposes,
} from '@market/money/payments'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { InMemoryChain, newPayment } from './in-memory-chain.ts'
import { openPaymentFixture, type PaymentFixture } from './payment-fixture.ts'

const PAYER = `0x${'a'.repeat(40)}`
const DUE = usdc(10n)

let chain: InMemoryChain
let fixture: PaymentFixture
beforeAll(async () => {
  chain = new InMemoryChain()
  fixture = await openPaymentFixture(chain, chain.clock)
})
afterAll(() => fixture.stop())

let made = 0
let heard: string[]
let rejection: ApiError | undefined
beforeEach(() => {
  heard = []
  rejection = undefined
})

/** A purpose that records what it is told. */
const handler: IntentHandler = {
  async onConfirmed(_, __, { purpose }, { amount, index }) {
    if (rejection !== undefined) throw rejection
    heard.push(`${purpose.id}: ${amount} by transfer ${index}`)
    return true
  },
  async onFailed(_, __, { purpose }, { status, code }) {
    heard.push(`${purpose.id}: ${status}, ${code}`)
  },
}
const onReversed = async () => {}
const PURPOSES: Purposes = {
  order: { ...handler, onReversed },
  purchase: handler,
  registration: { ...handler, onReversed },
}

const check = async () => {
  fixture.clock.advance(3 * SECOND)
  await checkIntents(fixture.ctx, PURPOSES)
}

const pay = (...amounts: bigint[]) => newPayment(amounts.map((amount) => [PAYER, amount]))

const open = (reference: string, id = `purpose ${made++}`): Promise<Intent> =>
  fixture.ctx.transact((tx) =>
    openIntent(fixture.ctx, tx, {
      purpose: { kind: 'order', id },
      network: fixture.network,
      reference,
      payers: [PAYER],
      due: DUE,
      notBefore: new Date(0),
      submission: null,
    }),
  )

const statusOf = async ({ id }: Intent) =>
  (
    await fixture.ctx.db
      .selectFrom('payment_intents')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).status

test('a named transfer: waits until it is on the chain, and is confirmed once by several workers', async () => {
  const payment = pay(10n)
  const intent = await open(payment.reference)
  await check()
  expect([await statusOf(intent), heard]).toEqual(['waiting', []])
  expect(await isAwaited(fixture.ctx.db, fixture.network, payment.reference)).toBe(true)
  chain.mine([payment])
  await Promise.all([check(), check(), check()])
  expect([await statusOf(intent), heard]).toEqual(['confirmed', [`${intent.purpose.id}: 10 by transfer 0`]])
  expect(await findIntent(fixture.ctx.db, intent.purpose)).toBeUndefined()
})

test('a transfer that is not found within an hour: expired', async () => {
  const intent = await open(pay(10n).reference)
  fixture.clock.advance(HOUR)
  await check()
  expect([await statusOf(intent), heard]).toEqual([
    'expired',
    [`${intent.purpose.id}: expired, transaction_not_found`],
  ])
})

test('a transfer of another wallet, or one that its purpose rejects: failed', async () => {
  const [stolen, rejected] = [newPayment([[`0x${'b'.repeat(40)}`, 10n]]), pay(10n)]
  chain.mine([stolen, rejected])
  const first = await open(stolen.reference)
  await check()
  expect([await statusOf(first), heard]).toEqual(['failed', [`${first.purpose.id}: failed, wrong_payer`]])
  heard = []
  rejection = new ApiError('conflict', 'Used', { code: 'transfer_used' })
  const second = await open(rejected.reference)
  await check()
  expect([await statusOf(second), heard]).toEqual(['failed', [`${second.purpose.id}: failed, transfer_used`]])
})

test('another transfer for the same purpose: replaces the first', async () => {
  const [first, second] = [await open(pay(10n).reference), pay(10n)]
  const again = await open(second.reference, first.purpose.id)
  chain.mine([second])
  await check()
  expect([await statusOf(first), await statusOf(again)]).toEqual(['cancelled', 'confirmed'])
})

test('an unavailable chain ends nothing, and does not keep other intents from being checked', async () => {
  const payment = pay(10n)
  chain.mine([payment])
  const intent = await open(payment.reference)
  chain.isUnavailable = true
  await expect(check()).rejects.toThrow('Some payments could not be checked')
  await expect(checkIntent(fixture.ctx, intent, handler)).rejects.toMatchObject({ kind: 'unavailable' })
  chain.isUnavailable = false
  expect([await statusOf(intent), heard]).toEqual(['waiting', []])
  await check()
  expect(await statusOf(intent)).toBe('confirmed')
})
