import type { PayoutBatches, PayoutSender } from '@market/core/ports/payout-sender'
import { MINUTE, SECOND } from '@market/kernel/clock'
import { advancePayout, type Payout, retryPayout, submitPayouts } from '@market/money/payouts'
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

const BLACKLISTED = 'The payee is blacklisted'

const batchesOf = (): PayoutBatches => {
  const { batches } = ledger.sender
  if (batches === undefined) throw new Error('there are no gas accounts')
  return batches
}

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
  const failures: PayoutBatches['failures'] = async () => {
    await ledger.advance(payout)
    return [BLACKLISTED]
  }
  const late = { batches: { ...batchesOf(), failures }, rejectionReason: async () => BLACKLISTED }
  expect(await advanceLate(payout, late)).toBe(SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
  await payOnce(payout)
})

test('advance: a failure that is not the payee’s, heard before another worker signed, does not hold the payout', async () => {
  const payout = await ledger.request()
  const failures: PayoutBatches['failures'] = async () => {
    await ledger.advance(payout)
    return ['Pausable: paused']
  }
  expect(await advanceLate(payout, { batches: { ...batchesOf(), failures } })).toBe(2 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', hold_code: null })
  await payOnce(payout)
})

test('advance: what was signed while another worker’s signature was stored is not sent', async () => {
  const payout = await ledger.request()
  const { batches: _, ...single } = ledger.sender
  const sent: string[] = []
  const send = async ({ reference }: { readonly reference: string }) => void sent.push(reference)
  const appWith = (sender: PayoutSender) => ({ ...ledger.app, payoutSenders: { [NETWORK]: sender } })
  const sign: PayoutSender['sign'] = async (...request) => {
    const signed = await single.sign(...request)
    await chain.rpc('evm_increaseTime', [60])
    await chain.mine(1)
    await advancePayout(appWith({ ...single, send }), payout.id)
    return signed
  }
  await advancePayout(appWith({ ...single, send, sign }), payout.id)
  expect(sent).toEqual((await ledger.signaturesOf(payout)).map(({ reference }) => reference))
  expect(sent).toHaveLength(1)
})

/** Makes time pass on the chain. What was signed before expires after 30 minutes. */
const pass = async (minutes: number) => {
  await chain.rpc('evm_increaseTime', [minutes * 60])
  await chain.mine(FINALITY)
}

test.each(['expired', 'ending'] as const)(
  'advance: a rejection of what was %s before another worker signed again does not stop the payout',
  async (kind) => {
    const payout = await ledger.request()
    await advancePayout(ledger.app, payout.id)
    await pass(kind === 'expired' ? 31 : 21)
    const observe: PayoutSender['observe'] = async (signed) => {
      const outcome = await ledger.sender.observe(signed)
      expect(outcome).toEqual({ kind })
      await advancePayout(ledger.app, payout.id)
      return outcome
    }
    await advanceLate(payout, { observe, rejectionReason: async () => BLACKLISTED })
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
    expect(await ledger.signaturesOf(payout)).toHaveLength(2)
    await payOnce(payout)
  },
)

test('advance: an expiry observed before another worker signed again does not replace the new signature', async () => {
  const payout = await ledger.request()
  await advancePayout(ledger.app, payout.id)
  await pass(31)
  const observe: PayoutSender['observe'] = async (signed) => {
    const outcome = await ledger.sender.observe(signed)
    await advancePayout(ledger.app, payout.id)
    return outcome
  }
  await advanceLate(payout, { observe })
  expect((await ledger.signaturesOf(payout)).map(({ is_dead }) => is_dead)).toEqual([true, false])
  await payOnce(payout)
})

test.each([
  ['and the rejection heard', BLACKLISTED],
  ['but no rejection', undefined],
])(
  'advance: an expiry observed before the retry, %s, changes nothing of the retried payout',
  async (_, late) => {
    const payout = await ledger.request()
    await advancePayout(ledger.app, payout.id)
    await chain.deny(payout.payee as Address, true)
    await pass(31)
    const observe: PayoutSender['observe'] = async (signed) => {
      const outcome = await ledger.sender.observe(signed)
      expect(outcome).toEqual({ kind: 'expired' })
      await ledger.advance(payout)
      expect((await ledger.rowOf(payout)).state).toBe('failed')
      await chain.deny(payout.payee as Address, false)
      await ledger.ctx.transact((tx) => retryPayout(ledger.ctx, tx, payout.id))
      await advancePayout(ledger.app, payout.id)
      return outcome
    }
    await advanceLate(payout, { observe, rejectionReason: async () => late })
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', round: 2, reason: null })
    const signatures = await ledger.signaturesOf(payout)
    expect(signatures.map(({ round, is_dead }) => ({ round, is_dead }))).toEqual([
      { round: 1, is_dead: true },
      { round: 2, is_dead: false },
    ])
    await payOnce(payout)
  },
)

/** Submits with nodes that respond otherwise to the transaction. */
const submitTo = (send: PayoutBatches['send']) =>
  submitPayouts(ledger.app, { ...ledger.sender, batches: { ...batchesOf(), send } })

test('broadcast error: shown in one short line until a node accepts the transaction', async () => {
  await chain.automine(false)
  const [payout, other] = [await ledger.request(), await ledger.request()]
  for (const { id } of [payout, other]) await advancePayout(ledger.app, id)
  const rejects = (message: string) => submitTo(() => Promise.reject(new Error(message)))
  await rejects(`insufficient\u0000 funds\nfor ${'gas '.repeat(100)}`)
  for (const one of [payout, other]) {
    const said = (await ledger.rowOf(one)).hold_detail ?? ''
    expect(said).toMatch(/^insufficient funds for gas gas/)
    expect(said).toHaveLength(200)
  }
  ledger.ctx.clock.advance(MINUTE + SECOND)
  await rejects('underpriced')
  expect(await ledger.rowOf(payout)).toMatchObject({
    state: 'signed',
    hold_code: 'broadcast_error',
    hold_detail: 'underpriced',
  })
  // A step of the payout sends nothing to the nodes, so the error stays.
  await advancePayout(ledger.app, payout.id)
  expect((await ledger.rowOf(payout)).hold_code).toBe('broadcast_error')
  ledger.ctx.clock.advance(MINUTE + SECOND)
  await ledger.submit()
  for (const one of [payout, other])
    expect(await ledger.rowOf(one)).toMatchObject({ state: 'signed', hold_code: null, reason: null })
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', reason: null })
  expect(await ledger.count()).toBe(2)
})

test('broadcast error: cleared once the chain shows the transaction', async () => {
  const payout = await ledger.request()
  await advancePayout(ledger.app, payout.id)
  await submitTo(async (batch) => {
    await batchesOf().send(batch)
    throw new Error('no answer in time')
  })
  expect(await ledger.rowOf(payout)).toMatchObject({
    state: 'signed',
    hold_code: 'broadcast_error',
    hold_detail: 'no answer in time',
  })
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
})
