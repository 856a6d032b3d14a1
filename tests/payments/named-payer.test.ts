import { afterAll, beforeAll, expect, test } from 'vitest'
import { InMemoryChain, newPayment } from './in-memory-chain.ts'
import { openPaymentFixture, type PaymentFixture } from './payment-fixture.ts'

const [PAYER, NAMED] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]

let chain: InMemoryChain
let fixture: PaymentFixture
beforeAll(async () => {
  chain = new InMemoryChain()
  fixture = await openPaymentFixture(chain, chain.clock)
})
afterAll(() => fixture.stop())

test('a transfer with a payer that a caller named is not final before that payer was checked', async () => {
  const payment = newPayment([[PAYER, 10n]])
  chain.mine([payment])
  await fixture.watch()
  const rows = () => fixture.ctx.db.selectFrom('transfers').select(['state', 'payer']).execute()
  await fixture.ctx.db.updateTable('transfers').set({ payer: NAMED }).execute()
  chain.finalize(0)
  await fixture.decideFinality()
  expect(await rows()).toEqual([{ state: 'seen', payer: NAMED }])
  expect(await fixture.recheckAlone()).toBe(1)
  expect(await rows()).toEqual([{ state: 'seen', payer: PAYER }])
  expect(await fixture.inSuspense(payment.reference)).toBe(10n)
})
