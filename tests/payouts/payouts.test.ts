import { DAY, HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { maintainLedgerPartitions, totals } from '@market/money/ledger'
import { advanceDue, advancePayout, duePayouts } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { sql } from 'kysely'
import type { Address } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import { CAPS, FLOAT, NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

describe('payouts', () => {
  let ledger: PayoutLedger
  beforeEach(async () => {
    await chain.automine(true)
    ledger = await startPayoutLedger(chain)
    return ledger.stop
  })

  test('request: signed, then final once its block is final, and the amount leaves the ledger', async () => {
    const payout = await ledger.request()
    expect(await ledger.reserved(payout)).toBe(5_000_000n)
    // By then the newest blocks were read.
    expect(await ledger.advance(payout)).toBe(8 * SECOND)
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', nonce: 0n, reason: null })
    expect(await ledger.holds(payout)).toBe(5_000_000n)
    expect(await ledger.advance(payout)).toBe(SECOND)
    expect(await ledger.reserved(payout)).toBe(5_000_000n)
    await chain.mine(FINALITY)
    expect(await ledger.advance(payout)).toBeUndefined()
    const [signature] = await ledger.signaturesOf(payout)
    expect(await ledger.rowOf(payout)).toMatchObject({
      state: 'final',
      final_reference: signature?.reference,
    })
    expect(await ledger.reserved(payout)).toBe(0n)
    const { treasuryView, imbalance } = await totals(ledger.ctx.db, NETWORK)
    expect({ treasuryView, imbalance }).toEqual({ treasuryView: FLOAT - 5_000_000n, imbalance: 0n })
    expect(await chain.balanceOf(ledger.account.address)).toBe(treasuryView)
  })

  test('request: a worker looks for due payouts at once, unless the transaction is rolled back', async () => {
    const looks = async () => {
      const { rows } = await sql<{ payload: object }>`
        select payload from graphile_worker._private_jobs where key is null`.execute(ledger.ctx.db)
      return rows.map(({ payload }) => payload)
    }
    await expect(ledger.request({ amount: usdc(10_000_000_000n) })).rejects.toThrow()
    expect(await looks()).toEqual([])
    await ledger.request()
    expect(await looks()).toEqual([{ sweep: 'advance-payouts' }])
  })

  test('request: two concurrent requests create one payout and reserve the amount once', async () => {
    const same = { subject: 'order-x', payee: newAccount().address }
    const asked = await Promise.all(Array.from({ length: 8 }, () => ledger.request(same)))
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1)
    expect((await totals(ledger.ctx.db, NETWORK)).liabilities.payable).toBe(5_000_000n)
    const refund = await ledger.request({ ...same, kind: 'refund' })
    expect(refund.id).not.toBe(asked[0]?.id)
    await expect(ledger.request({ ...same, amount: usdc(6n) })).rejects.toThrow(
      'requested with another amount',
    )
  })

  test('advance: twenty concurrent workers sign, pay and settle one payout once', async () => {
    const payout = await ledger.request()
    const all = () => Promise.all(Array.from({ length: 20 }, () => ledger.advance(payout)))
    await all()
    await all()
    await chain.mine(FINALITY)
    await all()
    expect(await ledger.signaturesOf(payout)).toHaveLength(1)
    expect(await ledger.holds(payout)).toBe(5_000_000n)
    expect(await ledger.count()).toBe(1n)
    expect((await ledger.rowOf(payout)).state).toBe('final')
    const journals = await ledger.ctx.db.selectFrom('ledger_journals').select('key').execute()
    expect(journals.filter(({ key }) => key === `payout.sent:${payout.id}`)).toHaveLength(1)
  })

  test('daily cap: a payout above it is held with the reason, which is cleared when the cap allows it', async () => {
    const payout = await ledger.request({ amount: usdc(60_000_000n) })
    expect(await ledger.advance(payout)).toBe(30 * SECOND)
    expect(await ledger.rowOf(payout)).toMatchObject({
      state: 'held',
      hold_code: 'payout_cap',
      hold_detail: '50.00 USDC',
      nonce: null,
    })
    const caps = { ...CAPS, perPayout: usdc(60_000_000n) }
    await advancePayout({ ...ledger.app, caps }, payout.id)
    expect(await ledger.rowOf(payout)).toMatchObject({
      state: 'signed',
      hold_code: null,
      reason: null,
      nonce: 0n,
    })
  })

  test('daily cap: ten concurrent workers authorize at most the cap and leave no nonce unused', async () => {
    const payouts = await Promise.all(
      Array.from({ length: 10 }, () => ledger.request({ amount: usdc(30_000_000n) })),
    )
    await Promise.all(payouts.map(ledger.advance))
    const rows = await Promise.all(payouts.map(ledger.rowOf))
    expect(
      rows
        .filter(({ state }) => state === 'signed')
        .map(({ nonce }) => nonce)
        .toSorted(),
    ).toEqual([0n, 1n, 2n])
    expect(rows.filter(({ state }) => state === 'held')).toHaveLength(7)
    await chain.mine(FINALITY)
    await Promise.all(payouts.map(ledger.advance))
    await Promise.all(payouts.map(ledger.advance))
    expect(await ledger.count()).toBe(3n)
    // A day and an hour later there is room again, for three and not for all that waited.
    ledger.ctx.clock.advance(DAY + HOUR)
    await maintainLedgerPartitions(ledger.ctx)
    await Promise.all(payouts.map(ledger.advance))
    const after = await Promise.all(payouts.map(ledger.rowOf))
    expect(after.filter(({ state }) => state === 'signed')).toHaveLength(3)
    expect(after.filter(({ state }) => state === 'held')).toHaveLength(4)
  })

  test('freeze_payouts: holds payouts that are not authorized; signed payouts continue', async () => {
    await chain.automine(false)
    const [signed, waiting] = [await ledger.request(), await ledger.request()]
    await ledger.advance(signed)
    await ledger.freeze(true)
    expect(await ledger.advance(waiting)).toBe(30 * SECOND)
    expect(await ledger.rowOf(waiting)).toMatchObject({ state: 'held', hold_code: 'payouts_frozen' })
    await chain.mine(FINALITY)
    await ledger.advance(signed)
    expect((await ledger.rowOf(signed)).state).toBe('final')
    await ledger.freeze(false)
    await ledger.advance(waiting)
    expect(await ledger.rowOf(waiting)).toMatchObject({ state: 'signed', reason: null })
  })

  test('freeze_payouts: a payout with a nonce is still signed, because an unused nonce blocks later payouts', async () => {
    const [first, second] = [await ledger.request(), await ledger.request()]
    const dead = { ...ledger.sender, sign: () => Promise.reject(new Error('the worker died')) }
    const dying = advancePayout({ ...ledger.app, payoutSenders: { [NETWORK]: dead } }, first.id)
    await expect(dying).rejects.toThrow('the worker died')
    expect(await ledger.rowOf(first)).toMatchObject({ state: 'nonce_assigned', nonce: 0n })
    await ledger.advance(second)
    expect(await ledger.holds(second)).toBe(0n)
    await ledger.freeze(true)
    await ledger.advance(first)
    // The node mines what waited for an earlier number a moment after that one.
    await chain.mine(1)
    expect([await ledger.holds(first), await ledger.holds(second)]).toEqual([5_000_000n, 5_000_000n])
  })

  test('payee rejected: the payout fails without a nonce, and the amount stays reserved', async () => {
    const payout = await ledger.request()
    await chain.deny(payout.payee as Address, true)
    expect(await ledger.advance(payout)).toBeUndefined()
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'failed', nonce: null })
    expect((await ledger.rowOf(payout)).reason).toMatch(/blacklisted/i)
    expect(await ledger.reserved(payout)).toBe(5_000_000n)
    const other = await ledger.request()
    await ledger.advance(other)
    expect((await ledger.rowOf(other)).nonce).toBe(0n)
  })

  test('reverted on chain: the nonce is used, the amount stays reserved, and later payouts continue', async () => {
    await chain.automine(false)
    const [bad, good] = [await ledger.request(), await ledger.request()]
    await ledger.advance(bad)
    await ledger.advance(good)
    await chain.rpc('anvil_dropAllTransactions')
    await chain.automine(true)
    await chain.deny(bad.payee as Address, true)
    for (const payout of [bad, good]) await ledger.advance(payout)
    await chain.mine(FINALITY)
    for (const payout of [bad, good]) await ledger.advance(payout)
    expect(await ledger.rowOf(bad)).toMatchObject({
      state: 'failed',
      reason: 'the transfer reverted',
      nonce: 0n,
    })
    expect(await ledger.reserved(bad)).toBe(5_000_000n)
    expect((await ledger.rowOf(good)).state).toBe('final')
    expect((await totals(ledger.ctx.db, NETWORK)).imbalance).toBe(0n)
  })

  test('stuck for a minute: only the payout at the next nonce is replaced, with a higher fee', async () => {
    await chain.automine(false)
    const [first, second] = [await ledger.request(), await ledger.request()]
    for (const payout of [first, second]) await ledger.advance(payout)
    await chain.rpc('anvil_dropAllTransactions')
    await ledger.advance(first)
    expect(await ledger.signaturesOf(first)).toHaveLength(1)
    await chain.rpc('anvil_dropAllTransactions')
    ledger.ctx.clock.advance(MINUTE + SECOND)
    for (const payout of [first, second]) await ledger.advance(payout)
    const [before, after] = await ledger.signaturesOf(first)
    expect(await ledger.signaturesOf(second)).toHaveLength(1)
    expect(after?.nonce).toBe(before?.nonce)
    for (const fee of ['max_fee_per_gas', 'max_priority_fee_per_gas'] as const)
      expect(BigInt(after?.[fee] ?? 0) * 1000n).toBeGreaterThanOrEqual(BigInt(before?.[fee] ?? 0) * 1125n)
    // Not again before another minute has passed.
    await ledger.advance(first)
    expect(await ledger.signaturesOf(first)).toHaveLength(2)
    await chain.mine(FINALITY)
    for (const payout of [first, second]) await ledger.advance(payout)
    expect([await ledger.holds(first), await ledger.holds(second)]).toEqual([5_000_000n, 5_000_000n])
  })

  test('unexplained outgoing transfers: no payout is sent', async () => {
    const [first, second] = [await ledger.request(), await ledger.request()]
    await ledger.advance(first)
    await chain.transfer(ledger.account, newAccount().address, 1n)
    expect(await ledger.advance(second)).toBe(30 * SECOND)
    expect(await ledger.rowOf(second)).toMatchObject({
      state: 'held',
      hold_code: 'nonce_mismatch',
      hold_detail: '2 on the chain, 1 in the ledger',
    })
  })

  test('no native coin for fees: the payout is held', async () => {
    await chain.fund(ledger.account.address, 0n)
    const payout = await ledger.request()
    expect(await ledger.advance(payout)).toBe(30 * SECOND)
    expect((await ledger.rowOf(payout)).hold_code).toBe('fee_balance_low')
    await chain.fund(ledger.account.address)
    await ledger.advance(payout)
    expect((await ledger.rowOf(payout)).state).toBe('signed')
  })

  test('reserveDue: returns a payout to one worker, and again after that worker died', async () => {
    const payouts = await Promise.all(Array.from({ length: 6 }, () => ledger.request()))
    const ids = payouts.map(({ id }) => id).toSorted()
    const taken = await Promise.all(Array.from({ length: 6 }, () => duePayouts(ledger.app, NETWORK, 2)))
    expect(taken.flat().toSorted()).toEqual(ids)
    expect(await duePayouts(ledger.app, NETWORK, 10)).toEqual([])
    expect(await duePayouts(ledger.app, 'solana-mainnet', 10)).toEqual([])
    ledger.ctx.clock.advance(5 * SECOND)
    expect((await duePayouts(ledger.app, NETWORK, 10)).toSorted()).toEqual(ids)
    const [payout] = payouts
    if (payout === undefined) throw new Error('none')
    await advanceDue(ledger.app, payout.id)
    ledger.ctx.clock.advance(8 * SECOND - 1)
    expect(await duePayouts(ledger.app, NETWORK, 10)).not.toContain(payout.id)
    ledger.ctx.clock.advance(1)
    expect(await duePayouts(ledger.app, NETWORK, 10)).toEqual([payout.id])
  })
})
