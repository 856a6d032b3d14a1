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

let ledger: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  ledger = await startPayoutLedger(chain)
  return () => ledger.stop()
})

const retry = ({ id }: Pick<Payout, 'id'>, change: { payee?: string } = {}) =>
  ledger.ctx.transact((tx) => retryPayout(ledger.ctx, tx, id, change))

/** Signed and on its way when its payee is blocked: it is final on the chain, and without effect. */
const failOnChain = async () => {
  const payout = await ledger.request()
  await chain.automine(false)
  await ledger.advance(payout)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.automine(true)
  await chain.deny(payout.payee as Address, true)
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('failed')
  return payout
}

test('payoutId: depends on kind and subject only', () => {
  expect(payoutIdOf('payout', 'order-1')).toBe('pay_0kahs2iwhn9vgvne2197dtx1zg2xgul5')
  expect(payoutIdOf('refund', 'order-1')).not.toBe(payoutIdOf('payout', 'order-1'))
  const ids = Array.from({ length: 1_000 }, (_, n) => payoutIdOf('payout', `order-${n}`))
  expect(new Set(ids).size).toBe(1_000)
  for (const id of ids) expect(id).toMatch(/^pay_[0-9a-z]{32}$/)
})

test('retry: a payout with a rejected payee is paid once to the new address', async () => {
  const payout = await ledger.request()
  await chain.deny(payout.payee as Address, true)
  await ledger.advance(payout)
  const payee = newAccount().address
  const again = await retry(payout, { payee })
  expect(again).toMatchObject({ id: payout.id, state: 'queued', round: 2, payee, nonce: null })
  await ledger.advance(again)
  await chain.mine(FINALITY)
  await ledger.advance(again)
  expect((await ledger.rowOf(again)).state).toBe('final')
  expect([await ledger.holds(payout), await ledger.holds(again)]).toEqual([0n, 5_000_000n])
  expect(await ledger.reserved(payout)).toBe(0n)
})

test('retry: a payout reverted on chain gets another nonce and keeps its old signatures', async () => {
  const payout = await failOnChain()
  await chain.deny(payout.payee as Address, false)
  await retry(payout)
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', round: 2, nonce: 1n })
  expect((await ledger.signaturesOf(payout)).map(({ round, n, nonce }) => ({ round, n, nonce }))).toEqual([
    { round: 1, n: 1, nonce: 0n },
    { round: 2, n: 1, nonce: 1n },
  ])
  expect(await ledger.holds(payout)).toBe(5_000_000n)
})

test('retry: a payout without an address is rejected until one is given', async () => {
  const payout = await ledger.request({ payee: null })
  expect(payout).toMatchObject({ state: 'failed', payee: null, holdCode: 'no_address' })
  expect(await ledger.reserved(payout)).toBe(5_000_000n)
  await expect(retry(payout)).rejects.toThrow('has no address to be paid to')
  expect(await retry(payout, { payee: newAccount().address })).toMatchObject({ state: 'queued', round: 2 })
})

test('retry: keeps the earliest payment time', async () => {
  const notBefore = new Date(ledger.ctx.clock.now().getTime() + 3_600_000)
  const payout = await ledger.request({ payee: null, notBefore })
  const again = await retry(payout, { payee: newAccount().address })
  await ledger.advance(again)
  expect(await ledger.rowOf(again)).toMatchObject({
    state: 'held',
    hold_code: 'contest_window',
    hold_detail: `until ${notBefore.toISOString()}`,
  })
  ledger.ctx.clock.advance(3_600_000)
  await ledger.advance(again)
  await chain.mine(FINALITY)
  await ledger.advance(again)
  await ledger.advance(again)
  expect((await ledger.rowOf(again)).state).toBe('final')
})

test('retry: only a failed payout, and once for two concurrent requests', async () => {
  await expect(retry({ id: payoutIdOf('payout', 'nothing') })).rejects.toMatchObject({ kind: 'not_found' })
  const waiting = await ledger.request()
  await expect(retry(waiting)).rejects.toThrow('is queued. Only a failed payout can be retried.')
  const failed = await failOnChain()
  const both = await Promise.allSettled([retry(failed), retry(failed)])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect((await ledger.rowOf(failed)).round).toBe(2)
})

test('retry: held for the operator when an earlier attempt turns out to be paid', async () => {
  const payout = await failOnChain()
  const [signature] = await ledger.signaturesOf(payout)
  await ledger.ctx.db
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
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'held', nonce: null })
  expect((await ledger.rowOf(payout)).hold_code).toBe('transfer_mismatch')
  // The payee has got what is owed: as a loss it would be paid once more.
  const booking = ledger.ctx.transact((tx) =>
    writeOffTransfer(ledger.ctx, tx, { network: NETWORK, reference: signature?.reference ?? '' }),
  )
  await expect(booking).rejects.toMatchObject({ kind: 'conflict' })
})
