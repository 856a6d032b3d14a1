import type { PayoutSender } from '@market/core/ports/payout-sender'
import { MINUTE, SECOND } from '@market/kernel/clock'
import { advancePayout, type Payout, retryPayout } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

let books: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  books = await startPayoutLedger(chain)
  return () => books.stop()
})

/** A step of a worker that is slow where it asks the chain: others go on before it writes what it heard. */
const advanceLate = ({ id }: Payout, change: Partial<PayoutSender>) =>
  advancePayout({ ...books.app, payoutSenders: { [NETWORK]: { ...books.sender, ...change } } }, id)

const payOnce = async (payout: Payout) => {
  await chain.automine(true)
  await books.advance(payout)
  await chain.mine(FINALITY)
  await books.advance(payout)
  expect((await books.rowOf(payout)).state).toBe('final')
  expect(await books.holds(payout)).toBe(5_000_000n)
  expect(await books.setAside(payout)).toBe(0n)
}

test('a worker that was rejected before another let the payout through and signed it does not fail it', async () => {
  const payout = await books.ask()
  const rejectionReason = async () => {
    await books.advance(payout)
    return 'The payee is blacklisted'
  }
  expect(await advanceLate(payout, { rejectionReason })).toBe(SECOND)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  await payOnce(payout)
})

test('a worker that was rejected before another gave the payout a number does not fail it', async () => {
  const payout = await books.ask()
  const rejectionReason = async () => {
    const sign = () => Promise.reject(new Error('the worker died'))
    await expect(advanceLate(payout, { sign })).rejects.toThrow('the worker died')
    return 'The payee is blacklisted'
  }
  expect(await advanceLate(payout, { rejectionReason })).toBe(SECOND)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', nonce: 0n })
  await payOnce(payout)
})

test('a worker that saw a payout fail before another signed it anew does not fail it', async () => {
  await chain.automine(false)
  const payout = await books.ask()
  await books.advance(payout)
  const observe: PayoutSender['observe'] = async ([first]) => {
    await chain.rpc('anvil_dropAllTransactions')
    books.ctx.clock.advance(MINUTE + SECOND)
    await books.advance(payout)
    return { kind: 'failed', reference: first?.reference ?? '', reason: 'the transfer reverted' }
  }
  expect(await advanceLate(payout, { observe })).toBe(SECOND)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  expect(await books.signaturesOf(payout)).toHaveLength(2)
  await payOnce(payout)
})

test('a worker that saw a payout fail does not fail the round in which it is tried again', async () => {
  await chain.automine(false)
  const payout = await books.ask()
  await books.advance(payout)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.automine(true)
  await chain.deny(payout.payee as Address, true)
  await books.advance(payout)
  await chain.mine(FINALITY)
  const observe: PayoutSender['observe'] = async (signed) => {
    const outcome = await books.sender.observe(signed)
    await books.advance(payout)
    expect((await books.rowOf(payout)).state).toBe('failed')
    await chain.deny(payout.payee as Address, false)
    await books.ctx.transact((tx) => retryPayout(books.ctx, tx, payout.id))
    await books.advance(payout)
    return outcome
  }
  expect(await advanceLate(payout, { observe })).toBe(SECOND)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', round: 2, reason: null })
  await payOnce(payout)
})

test('what the nodes say against a signed payout is told until they take it, in one short line', async () => {
  await chain.automine(false)
  const payout = await books.ask()
  const send = () => Promise.reject(new Error(`insufficient\u0000 funds\nfor ${'gas '.repeat(100)}`))
  await advanceLate(payout, { send })
  const said = (await books.rowOf(payout)).hold_detail ?? ''
  expect(said).toMatch(/^insufficient funds for gas gas/)
  expect(said).toHaveLength(200)
  await advanceLate(payout, { send: () => Promise.reject(new Error('underpriced')) })
  expect(await books.rowOf(payout)).toMatchObject({
    state: 'signed',
    hold_code: 'broadcast_error',
    hold_detail: 'underpriced',
  })
  await books.advance(payout)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  await chain.rpc('anvil_dropAllTransactions')
  await advanceLate(payout, { send })
  await books.advance(payout)
  await chain.mine(FINALITY)
  await books.advance(payout)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'final', reason: null })
})

test('a payout that a node took although it said no is told of as any other once the chain shows it', async () => {
  const payout = await books.ask()
  const send: PayoutSender['send'] = async (signed) => {
    await books.sender.send(signed)
    throw new Error('no answer in time')
  }
  await advanceLate(payout, { send })
  expect(await books.rowOf(payout)).toMatchObject({
    state: 'signed',
    hold_code: 'broadcast_error',
    hold_detail: 'no answer in time',
  })
  await books.advance(payout)
  expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
})
