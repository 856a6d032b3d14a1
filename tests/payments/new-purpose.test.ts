import { ApiError } from '@market/kernel/api-error'
import { SECOND } from '@market/kernel/clock'
import { checkIntents, intentHandler, type Purposes, recheckTransfers } from '@market/money/payments'
import { walletActor } from '@market/testing/make-actor'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payByTransfer } from '../support/named-transfers.ts'
import { type Donate, donationPurpose, TABLE } from './example-purpose.ts'
import { InMemoryChain, newPayment } from './in-memory-chain.ts'
import { openPaymentFixture, type PaymentFixture } from './payment-fixture.ts'

/** CONTRIBUTING, “Add a purpose”: the command and the worker take the rule of one file. */

const DUE = 25_000_000n
const DONOR = walletActor(`0x${'d'.repeat(40)}`)
const NO_HANDLER = {
  onConfirmed: async () => 'cancelled' as const,
  onFailed: async () => {},
  onReversed: async () => {},
}
const PURPOSES: Purposes = {
  order: NO_HANDLER,
  registration: NO_HANDLER,
  bounty: NO_HANDLER,
  purchase: NO_HANDLER,
  earn_deposit: intentHandler(donationPurpose),
}

let chain: InMemoryChain
let fixture: PaymentFixture
beforeAll(async () => {
  chain = new InMemoryChain()
  fixture = await openPaymentFixture(chain, chain.clock)
  await TABLE.execute(fixture.ctx.db)
})
afterAll(async () => {
  await sql`drop table donations`.execute(fixture.ctx.db)
  await fixture.stop()
})

let made = 0
async function promise(): Promise<string> {
  const id = `donation ${made++}`
  await sql`insert into donations values (${id}, ${DUE}, 'promised', null)`.execute(fixture.ctx.db)
  return id
}
const give = (id: string, reference: string) =>
  payByTransfer(fixture.ctx, DONOR, donationPurpose, {
    id,
    network: fixture.network,
    reference,
  } satisfies Donate)
const transfer = (micros = DUE) => newPayment([[DONOR.wallet.key, micros]])
const statusOf = async (id: string) =>
  (await sql<{ status: string }>`select status from donations where id = ${id}`.execute(fixture.ctx.db))
    .rows[0]?.status
const check = async () => {
  fixture.clock.advance(6 * SECOND)
  await checkIntents(fixture.ctx, PURPOSES)
  await recheckTransfers(fixture.ctx, PURPOSES)
}
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? error.extra.code : error),
  )

test('a new purpose: a confirmed transfer pays it once, and another of the same donor pays another', async () => {
  const [first, second, payment] = [await promise(), await promise(), transfer()]
  chain.mine([payment])
  expect(await give(first, payment.reference)).toMatchObject({ status: 'paid' })
  expect(await give(first, payment.reference)).toMatchObject({ status: 'paid' })
  expect(await codeOf(give(second, payment.reference))).toBe('transfer_used')
})

test('a new purpose: a transfer that is named before it is mined is waited for', async () => {
  const [id, payment] = [await promise(), transfer()]
  expect(await give(id, payment.reference)).toMatchObject({ status: 'promised' })
  chain.mine([payment])
  await check()
  expect(await statusOf(id)).toBe('paid')
})

test('a new purpose: a transfer that is too small pays nothing', async () => {
  const [id, small] = [await promise(), transfer(DUE - 1n)]
  expect(await give(id, small.reference)).toMatchObject({ status: 'promised' })
  chain.mine([small])
  expect(await codeOf(give(id, small.reference))).toBe('underpaid')
  await check()
  expect(await statusOf(id)).toBe('failed')
})

test('a new purpose: waits again when a reorganization removes its transfer', async () => {
  const [id, payment] = [await promise(), transfer()]
  chain.mine([payment])
  await give(id, payment.reference)
  chain.reorg(1)
  chain.finalize(0)
  await check()
  expect(await statusOf(id)).toBe('promised')
  chain.mine([payment])
  await check()
  expect(await statusOf(id)).toBe('paid')
})
