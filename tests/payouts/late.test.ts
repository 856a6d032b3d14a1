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

let ledger: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  ledger = await startPayoutLedger(chain)
  return () => ledger.stop()
})

/** A step of a worker that is slow where it asks the chain: others go on before it writes what it heard. */
const advanceLate = ({ id }: Payout, change: Partial<PayoutSender>) =>
  advancePayout({ ...ledger.app, payoutSenders: { [NETWORK]: { ...ledger.sender, ...change } } }, id)

const payOnce = async (payout: Payout) => {
  await chain.automine(true)
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('final')
  expect(await ledger.holds(payout)).toBe(5_000_000n)
  expect(await ledger.reserved(payout)).toBe(0n)
}

test('advance: a payee rejected before another worker signed the payout does not fail it', async () => {
  const payout = await ledger.request()
  const rejectionReason = async () => {
    await ledger.advance(payout)
    return 'The payee is blacklisted'
  }
  expect(await advanceLate(payout, { rejectionReason })).toBe(SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  await payOnce(payout)
})

test('advance: a payee rejected before another worker assigned the nonce does not fail the payout', async () => {
  const payout = await ledger.request()
  const rejectionReason = async () => {
    const sign = () => Promise.reject(new Error('the worker died'))
    await expect(advanceLate(payout, { sign })).rejects.toThrow('the worker died')
    return 'The payee is blacklisted'
  }
  expect(await advanceLate(payout, { rejectionReason })).toBe(8 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', nonce: 0n })
  await payOnce(payout)
})

test('advance: a failure observed before another worker signed again does not fail the payout', async () => {
  await chain.automine(false)
  const payout = await ledger.request()
  await ledger.advance(payout)
  const observe: PayoutSender['observe'] = async ([first]) => {
    await chain.rpc('anvil_dropAllTransactions')
    ledger.ctx.clock.advance(MINUTE + SECOND)
    await ledger.advance(payout)
    return { kind: 'failed', reference: first?.reference ?? '', reason: 'the transfer reverted' }
  }
  expect(await advanceLate(payout, { observe })).toBe(SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  expect(await ledger.signaturesOf(payout)).toHaveLength(2)
  await payOnce(payout)
})

test('advance: a failure observed before the retry does not fail the retried payout', async () => {
  await chain.automine(false)
  const payout = await ledger.request()
  await ledger.advance(payout)
  await chain.rpc('anvil_dropAllTransactions')
  await chain.automine(true)
  await chain.deny(payout.payee as Address, true)
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  const observe: PayoutSender['observe'] = async (signed) => {
    const outcome = await ledger.sender.observe(signed)
    await ledger.advance(payout)
    expect((await ledger.rowOf(payout)).state).toBe('failed')
    await chain.deny(payout.payee as Address, false)
    await ledger.ctx.transact((tx) => retryPayout(ledger.ctx, tx, payout.id))
    await ledger.advance(payout)
    return outcome
  }
  expect(await advanceLate(payout, { observe })).toBe(SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', round: 2, reason: null })
  await payOnce(payout)
})

test('broadcast error: shown in one short line until a node accepts the transaction', async () => {
  await chain.automine(false)
  const payout = await ledger.request()
  const send = () => Promise.reject(new Error(`insufficient\u0000 funds\nfor ${'gas '.repeat(100)}`))
  await advanceLate(payout, { send })
  const said = (await ledger.rowOf(payout)).hold_detail ?? ''
  expect(said).toMatch(/^insufficient funds for gas gas/)
  expect(said).toHaveLength(200)
  await advanceLate(payout, { send: () => Promise.reject(new Error('underpriced')) })
  expect(await ledger.rowOf(payout)).toMatchObject({
    state: 'signed',
    hold_code: 'broadcast_error',
    hold_detail: 'underpriced',
  })
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  await chain.rpc('anvil_dropAllTransactions')
  await advanceLate(payout, { send })
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', reason: null })
})

test('broadcast error: cleared once the chain shows the transaction', async () => {
  const payout = await ledger.request()
  const send: PayoutSender['send'] = async (signed) => {
    await ledger.sender.send(signed)
    throw new Error('no answer in time')
  }
  await advanceLate(payout, { send })
  expect(await ledger.rowOf(payout)).toMatchObject({
    state: 'signed',
    hold_code: 'broadcast_error',
    hold_detail: 'no answer in time',
  })
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
})
