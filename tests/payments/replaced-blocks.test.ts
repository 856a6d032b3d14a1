import { readNewBlocks } from '@market/money/follower'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { InMemoryChain, newPayment } from './in-memory-chain.ts'
import { openPaymentFixture, outcome, type PaymentFixture } from './payment-fixture.ts'

/** A reorganization between two readings of the same transfer. */

const PAYER = `0x${'a'.repeat(40)}`

let chain: InMemoryChain
let fixture: PaymentFixture
beforeEach(async () => {
  chain = new InMemoryChain()
  fixture = await openPaymentFixture(chain, chain.clock)
})
afterEach(() => fixture.stop())

const pay = (): string => {
  const payment = newPayment([[PAYER, 10n]])
  chain.mine([payment])
  return payment.reference
}

const lookUp = async (reference: string) => {
  const seen = await fixture.findTransfer(reference, { payers: [PAYER] })
  if (seen === undefined) throw new Error(`${reference} is pending`)
  return seen
}

const blockOf = (reference: string) =>
  fixture.ctx.db
    .selectFrom('transfers')
    .select(['block_hash', 'missing_since'])
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow()

/** Its transaction is in another block now, and was read there. */
const replaceBlock = async (): Promise<void> => {
  chain.reorg(1)
  chain.mineAgain(0, 0n)
  await fixture.watch()
}

test('claimTransfer: a transfer whose block was replaced after it was looked up pays for nothing yet', async () => {
  const reference = pay()
  await fixture.watch()
  const seen = await lookUp(reference)
  await replaceBlock()
  const now = await lookUp(reference)
  expect(now.block.hash).not.toBe(seen.block.hash)
  expect(await outcome(fixture.claimSeen(seen, 'order:a', seen.amount))).toBe('unavailable')
  expect(await blockOf(reference)).toMatchObject({ block_hash: now.block.hash })
  expect(await fixture.claimSeen(now, 'order:a', now.amount)).toEqual({ isNew: true })
})

test('claimTransfer: a transfer that no block has any more pays for nothing', async () => {
  const reference = pay()
  await fixture.watch()
  const seen = await lookUp(reference)
  chain.reorg(1)
  await fixture.watch()
  expect(await outcome(fixture.claimSeen(seen, 'order:b', seen.amount))).toBe('unavailable')
  expect((await blockOf(reference)).missing_since).not.toBeNull()
})

test('readNewBlocks: a slower worker does not put back the block that was replaced since its reading', async () => {
  const reference = pay()
  const read = chain.movementsAfter.bind(chain)
  const slow = vi.spyOn(chain, 'movementsAfter').mockImplementationOnce(async (...args) => {
    const page = await read(...args)
    await fixture.watch()
    await replaceBlock()
    return page
  })
  await readNewBlocks(fixture.ctx, fixture.network)
  slow.mockRestore()
  const { block } = await lookUp(reference)
  expect(await blockOf(reference)).toEqual({ block_hash: block.hash, missing_since: null })
})
