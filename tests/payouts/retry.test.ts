import { markOf } from '@market/kernel/payout-mark'
import { advancePayout, type Payout, payoutIdOf, retryPayout, writeOffTransfer } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address, Hex } from 'viem'
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

/** Signed when its payee is blocked: it fails once what was signed has expired in a final block. */
const failSigned = async () => {
  const payout = await ledger.request()
  await advancePayout(ledger.app, payout.id)
  await chain.deny(payout.payee as Address, true)
  await chain.rpc('evm_increaseTime', [31 * 60])
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('failed')
  expect(await ledger.count()).toBe(0)
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
  expect(again).toMatchObject({ id: payout.id, state: 'queued', round: 2, payee })
  expect(await ledger.signaturesOf(payout)).toEqual([])
  await ledger.advance(again)
  await chain.mine(FINALITY)
  await ledger.advance(again)
  expect((await ledger.rowOf(again)).state).toBe('final')
  expect([await ledger.holds(payout), await ledger.holds(again)]).toEqual([0n, 5_000_000n])
  expect(await ledger.reserved(payout)).toBe(0n)
})

test('retry: an expired payout is signed with the same mark, paid once, and keeps its old signatures', async () => {
  const payout = await failSigned()
  const [expired] = await ledger.signaturesOf(payout)
  await chain.deny(payout.payee as Address, false)
  await retry(payout)
  await advancePayout(ledger.app, payout.id)
  const stranger = newAccount()
  await chain.fund(stranger.address)
  await chain.call(stranger, chain.usdc, expired?.bytes as Hex)
  expect(await ledger.holds(payout)).toBe(0n)
  await ledger.advance(payout)
  await chain.mine(FINALITY)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', round: 2, mark_round: 1 })
  const signatures = await ledger.signaturesOf(payout)
  expect(signatures.map(({ round, n, is_dead }) => ({ round, n, is_dead }))).toEqual([
    { round: 1, n: 1, is_dead: true },
    { round: 2, n: 1, is_dead: false },
  ])
  expect(await ledger.holds(payout)).toBe(5_000_000n)
  expect(await ledger.outgoingTransfers()).toMatchObject([{ mark: markOf(NETWORK, payout) }])
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
  const failed = await failSigned()
  const both = await Promise.allSettled([retry(failed), retry(failed)])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect((await ledger.rowOf(failed)).round).toBe(2)
})

/** A payment with the payout's mark, in a block that was believed to be another. */
const savePayment = async (payout: Payout): Promise<string> => {
  const reference = `0x${'7'.repeat(64)}`
  await ledger.ctx.db
    .insertInto('outgoing_transfers')
    .values({
      network: NETWORK,
      reference,
      transfer_index: 3,
      mark: markOf(NETWORK, payout),
      payee: payout.payee?.toLowerCase() ?? null,
      amount_micros: payout.amount,
      block_height: 1n,
      block_hash: 'a block that was believed to be another',
      happened_at: new Date(),
      is_final: true,
      created_at: new Date(),
    })
    .execute()
  return reference
}

const writeOff = (reference: string) =>
  ledger.ctx.transact((tx) => writeOffTransfer(ledger.ctx, tx, { network: NETWORK, reference, index: 3 }))

test('retry: final without a second payment when an earlier attempt turns out to be paid', async () => {
  const payout = await failSigned()
  await chain.deny(payout.payee as Address, false)
  const reference = await savePayment(payout)
  await retry(payout)
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', round: 2 })
  // The payee has got what is owed: as a loss it would be paid once more.
  await expect(writeOff(reference)).rejects.toMatchObject({ kind: 'conflict' })
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', final_reference: reference })
  await expect(writeOff(reference)).rejects.toMatchObject({ kind: 'conflict' })
  expect(await ledger.signaturesOf(payout)).toHaveLength(1)
  expect([await ledger.count(), await ledger.reserved(payout)]).toEqual([0, 0n])
})

test('retry to another address: held for the operator when the earlier address turns out to be paid', async () => {
  const payout = await failSigned()
  const reference = await savePayment(payout)
  await retry(payout, { payee: newAccount().address })
  await ledger.advance(payout)
  expect(await ledger.rowOf(payout)).toMatchObject({
    state: 'held',
    hold_code: 'transfer_mismatch',
    hold_detail: reference,
  })
  expect(await ledger.signaturesOf(payout)).toHaveLength(1)
  expect([await ledger.count(), await ledger.reserved(payout)]).toEqual([0, 5_000_000n])
})
