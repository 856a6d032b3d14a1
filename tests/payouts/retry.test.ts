import { usdc } from '@market/kernel/money'
import type { Payout } from '@market/money/payouts'
import { payoutIdOf, retryPayout, writeOffTransfer } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

let books: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  books = await startPayoutLedger(chain)
  return () => books.stop()
})

const retry = ({ id }: Pick<Payout, 'id'>, change: { payee?: string } = {}) =>
  books.ctx.transact((tx) => retryPayout(books.ctx, tx, id, change))

/** Signed and on its way when its payee is blocked: it is final on the chain, and without effect. */
const failOnChain = async () => {
  const payout = await books.ask()
  await chain.automine(false)
  await books.advance(payout)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.automine(true)
  await chain.deny(payout.payee as Address, true)
  await books.advance(payout)
  await chain.mine(FINALITY)
  await books.advance(payout)
  expect((await books.rowOf(payout)).state).toBe('failed')
  return payout
}

test('the same kind and subject have the same id everywhere, and others have others', () => {
  expect(payoutIdOf('payout', 'order-1')).toBe('pay_0kahs2iwhn9vgvne2197dtx1zg2xgul5')
  expect(payoutIdOf('refund', 'order-1')).not.toBe(payoutIdOf('payout', 'order-1'))
  const ids = Array.from({ length: 1_000 }, (_, n) => payoutIdOf('payout', `order-${n}`))
  expect(new Set(ids).size).toBe(1_000)
  for (const id of ids) expect(id).toMatch(/^pay_[0-9a-z]{32}$/)
})

test('one that was rejected is paid once to the address it is tried again with', async () => {
  const payout = await books.ask()
  await chain.deny(payout.payee as Address, true)
  await books.advance(payout)
  const payee = newAccount().address
  const again = await retry(payout, { payee })
  expect(again).toMatchObject({ id: payout.id, state: 'queued', round: 2, payee, nonce: null })
  await books.advance(again)
  await chain.mine(FINALITY)
  await books.advance(again)
  expect((await books.rowOf(again)).state).toBe('final')
  expect([await books.holds(payout), await books.holds(again)]).toEqual([0n, 5_000_000n])
  expect(await books.setAside(payout)).toBe(0n)
})

test('one that failed on the chain is tried again with another nonce, and its old signatures stay known', async () => {
  const payout = await failOnChain()
  await chain.deny(payout.payee as Address, false)
  await retry(payout)
  await books.advance(payout)
  await chain.mine(FINALITY)
  await books.advance(payout)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'final', round: 2, nonce: 1n })
  expect((await books.signaturesOf(payout)).map(({ round, n, nonce }) => ({ round, n, nonce }))).toEqual([
    { round: 1, n: 1, nonce: 0n },
    { round: 2, n: 1, nonce: 1n },
  ])
  expect(await books.holds(payout)).toBe(5_000_000n)
})

test('one that has no address waits for one, and is not tried again without', async () => {
  const payout = await books.ask({ payee: null })
  expect(payout).toMatchObject({ state: 'failed', payee: null, holdCode: 'no_address' })
  expect(await books.setAside(payout)).toBe(5_000_000n)
  await expect(retry(payout)).rejects.toThrow('has no address to be paid to')
  expect(await retry(payout, { payee: newAccount().address })).toMatchObject({ state: 'queued', round: 2 })
})

test('what may leave no earlier than a time leaves no earlier in another round either', async () => {
  const notBefore = new Date(books.ctx.clock.now().getTime() + 3_600_000)
  const payout = await books.ask({ payee: null, notBefore })
  const again = await retry(payout, { payee: newAccount().address })
  await books.advance(again)
  expect(await books.rowOf(again)).toMatchObject({
    state: 'held',
    hold_code: 'not_before',
    hold_detail: `not before ${notBefore.toISOString()}`,
  })
  books.ctx.clock.advance(3_600_000)
  await books.advance(again)
  await chain.mine(FINALITY)
  await books.advance(again)
  await books.advance(again)
  expect((await books.rowOf(again)).state).toBe('final')
})

test('only a failed payout is tried again, even when two ask at once', async () => {
  await expect(retry({ id: payoutIdOf('payout', 'nothing') })).rejects.toMatchObject({ kind: 'not_found' })
  const waiting = await books.ask()
  await expect(retry(waiting)).rejects.toThrow('is queued. Only a failed payout can be retried.')
  const failed = await failOnChain()
  const both = await Promise.allSettled([retry(failed), retry(failed)])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect((await books.rowOf(failed)).round).toBe(2)
})

test('one whose earlier round turns out to be paid is held for a person', async () => {
  const payout = await failOnChain()
  const [signature] = await books.signaturesOf(payout)
  await books.ctx.db
    .insertInto('outgoing_transfers')
    .values({
      network: NETWORK,
      reference: signature?.reference ?? '',
      payout_id: payout.id,
      payee: payout.payee?.toLowerCase() ?? null,
      amount_micros: usdc(5_000_000n),
      nonce: 0n,
      block_height: 1n,
      block_hash: 'a block that was believed to be another',
      happened_at: new Date(),
      is_final: true,
      created_at: new Date(),
    })
    .execute()
  await retry(payout)
  await books.advance(payout)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'held', nonce: null })
  expect((await books.rowOf(payout)).hold_code).toBe('transfer_mismatch')
  // The payee has got what is owed: as a loss it would be paid once more.
  const booking = books.ctx.transact((tx) =>
    writeOffTransfer(books.ctx, tx, { network: NETWORK, reference: signature?.reference ?? '' }),
  )
  await expect(booking).rejects.toMatchObject({ kind: 'conflict' })
})
