import { ApiError } from '@market/kernel/api-error'
import { HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import {
  cancelIntent,
  checkIntent,
  checkIntents,
  findWaitingIntent,
  type Intent,
  type IntentHandler,
  isAwaited,
  openIntent,
  type Purposes,
} from '@market/money/payments'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
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
let calls: string[]
let rejection: ApiError | undefined
let isAwaitedStill = true
beforeEach(() => {
  calls = []
  rejection = undefined
  isAwaitedStill = true
  chain.required = 1
})

/** Records its calls. */
const handler: IntentHandler = {
  async onConfirmed(_, __, { purpose }, { amount, index }) {
    if (rejection !== undefined) throw rejection
    calls.push(`${purpose.id}: ${amount} by transfer ${index}`)
    return isAwaitedStill ? 'confirmed' : 'cancelled'
  },
  async onFailed(_, __, { purpose }, { status, code }) {
    calls.push(`${purpose.id}: ${status}, ${code}`)
  },
}
const onReversed = async () => {}
const PURPOSES: Purposes = {
  order: { ...handler, onReversed },
  purchase: handler,
  registration: { ...handler, onReversed },
  bounty: { ...handler, onReversed },
  earn_deposit: { ...handler, onReversed },
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

test('checkIntents: confirms a named transfer once when several workers check it', async () => {
  const payment = pay(10n)
  const intent = await open(payment.reference)
  await check()
  expect([await statusOf(intent), calls]).toEqual(['waiting', []])
  const { reference } = payment
  const isAwaitedOf = (payer: string) =>
    isAwaited(fixture.ctx.db, { network: fixture.network, reference, payer })
  expect([await isAwaitedOf(PAYER), await isAwaitedOf('another')]).toEqual([true, false])
  chain.mine([payment])
  fixture.clock.advance(3 * SECOND)
  await Promise.all([1, 2, 3].map(() => checkIntents(fixture.ctx, PURPOSES)))
  expect([await statusOf(intent), calls]).toEqual(['confirmed', [`${intent.purpose.id}: 10 by transfer 0`]])
  expect(await findWaitingIntent(fixture.ctx.db, intent.purpose)).toBeUndefined()
})

test('checkIntents: expires an intent whose transfer is not found within an hour', async () => {
  const intent = await open(pay(10n).reference)
  fixture.clock.advance(HOUR)
  await check()
  expect([await statusOf(intent), calls]).toEqual([
    'expired',
    [`${intent.purpose.id}: expired, transaction_not_found`],
  ])
})

test('checkIntents: fails an intent whose transfer has another payer or is rejected by its purpose', async () => {
  const [stolen, rejected] = [newPayment([[`0x${'b'.repeat(40)}`, 10n]]), pay(10n)]
  chain.mine([stolen, rejected])
  const first = await open(stolen.reference)
  await check()
  expect([await statusOf(first), calls]).toEqual(['failed', [`${first.purpose.id}: failed, wrong_payer`]])
  calls = []
  rejection = new ApiError('conflict', 'Used', { code: 'transfer_used' })
  const second = await open(rejected.reference)
  await check()
  expect([await statusOf(second), calls]).toEqual(['failed', [`${second.purpose.id}: failed, transfer_used`]])
})

test('checkIntents: cancels an intent that nothing waits for any more', async () => {
  const payment = pay(10n)
  chain.mine([payment])
  isAwaitedStill = false
  const intent = await open(payment.reference)
  await check()
  expect(await statusOf(intent)).toBe('cancelled')
})

test('openIntent: cancels the earlier intent of the same purpose', async () => {
  const [first, second] = [await open(pay(10n).reference), pay(10n)]
  const again = await open(second.reference, first.purpose.id)
  chain.mine([second])
  await check()
  expect([await statusOf(first), await statusOf(again)]).toEqual(['cancelled', 'confirmed'])
})

test('checkIntents: an intent waits while the chain is unavailable, and is confirmed at the next check', async () => {
  const payment = pay(10n)
  chain.mine([payment])
  const intent = await open(payment.reference)
  chain.isUnavailable = true
  await expect(check()).rejects.toThrow('Some payments could not be checked')
  await expect(checkIntent(fixture.ctx, intent, handler)).rejects.toMatchObject({ kind: 'unavailable' })
  chain.isUnavailable = false
  expect([await statusOf(intent), calls]).toEqual(['waiting', []])
  await check()
  expect(await statusOf(intent)).toBe('confirmed')
})

/** How often the chain is asked about a transfer while this runs. */
const asked = async (work: () => Promise<unknown>): Promise<number> => {
  const spy = vi.spyOn(chain, 'findTransfer')
  try {
    await work()
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

/** The block that was read last. */
const head = async (): Promise<bigint> => {
  await fixture.watch()
  const { head_height: height } = await fixture.ctx.db
    .selectFrom('followed_networks')
    .select('head_height')
    .executeTakeFirstOrThrow()
  return height ?? 0n
}

/** Its payment is in the newest block that was read, and so many blocks must confirm it. */
const openInBlock = async (required: number): Promise<Intent> => {
  chain.required = required
  const payment = pay(10n)
  chain.mine([payment])
  await head()
  const intent = await open(payment.reference)
  expect(await asked(check)).toBe(0)
  const { depth } = (await findWaitingIntent(fixture.ctx.db, intent.purpose)) ?? {}
  expect(depth).toMatchObject({ confirmations: 1, required })
  return intent
}

test('checkIntents: confirms a payment by the blocks that were read, and asks no node about it', async () => {
  const intent = await openInBlock(3)
  chain.mine([])
  await head()
  expect(await asked(check)).toBe(0)
  expect(await statusOf(intent)).toBe('waiting')
  chain.mine([])
  await head()
  expect(await asked(check)).toBe(0)
  expect(await statusOf(intent)).toBe('confirmed')
})

test('checkIntents: a payment in a block is not given up when the blocks after it were not read for an hour', async () => {
  const intent = await openInBlock(3)
  fixture.clock.advance(2 * HOUR)
  await check()
  expect([await statusOf(intent), calls]).toEqual(['waiting', []])
  chain.mine([])
  chain.mine([])
  await head()
  await check()
  expect(await statusOf(intent)).toBe('confirmed')
})

test('checkIntents: a payment whose block is read only after an hour is not given up', async () => {
  chain.required = 3
  const payment = pay(10n)
  const intent = await open(payment.reference)
  fixture.clock.advance(2 * HOUR)
  chain.mine([payment])
  await head()
  await check()
  expect([await statusOf(intent), calls]).toEqual(['waiting', []])
  chain.mine([])
  chain.mine([])
  await head()
  await check()
  expect(await statusOf(intent)).toBe('confirmed')
})

test('checkIntents: asks about a payment whose block was replaced at once, and shows no confirmations of it', async () => {
  const intent = await openInBlock(30)
  chain.reorg(1)
  await head()
  expect((await findWaitingIntent(fixture.ctx.db, intent.purpose))?.depth).toBeNull()
  expect(await asked(check)).toBe(1)
  await fixture.ctx.transact((tx) => cancelIntent(tx, intent.purpose))
})

test('checkIntents: where the newest blocks are read, asks no node about a payment that they will show', async () => {
  await head()
  const payment = pay(10n)
  const intent = await open(payment.reference)
  expect(await asked(check)).toBe(0)
  chain.mine([payment])
  await head()
  expect(await asked(check)).toBe(0)
  expect(await statusOf(intent)).toBe('confirmed')
})

test('checkIntents: asks about a payment that was not read for 10 seconds, and then less and less often', async () => {
  const intent = await open(pay(10n).reference)
  const askedAt: number[] = []
  for (let seconds = 3; seconds <= 600; seconds += 3) {
    await head()
    if ((await asked(check)) > 0) askedAt.push(seconds)
  }
  expect(askedAt.slice(0, 3)).toEqual([12, 24, 48])
  expect(askedAt.length).toBeLessThan(10)
  expect(await statusOf(intent)).toBe('waiting')
  await fixture.ctx.transact((tx) => cancelIntent(tx, intent.purpose))
})

test('checkIntents: asks less and less often where the blocks are not read, until the block of the payment is', async () => {
  const payment = pay(10n)
  const intent = await open(payment.reference)
  fixture.clock.advance(20 * MINUTE)
  expect(await asked(check)).toBe(1)
  expect(await asked(check)).toBe(0)
  fixture.clock.advance(MINUTE)
  expect(await asked(check)).toBe(1)
  chain.mine([payment])
  await head()
  expect(await asked(check)).toBe(0)
  expect(await statusOf(intent)).toBe('confirmed')
})
