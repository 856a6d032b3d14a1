import { DAY, HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { maintainLedgerPartitions, totals } from '@market/money/ledger'
import {
  advanceDue,
  advancePayout,
  duePayouts,
  findAliveUntil,
  payoutLimitMetrics,
} from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
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
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', reason: null })
    expect(await ledger.holds(payout)).toBe(5_000_000n)
    expect(await ledger.advance(payout)).toBe(MINUTE)
    expect(await ledger.reserved(payout)).toBe(5_000_000n)
    await chain.mine(FINALITY)
    expect(await ledger.advance(payout)).toBeUndefined()
    const { reference } = await ledger.ctx.db
      .selectFrom('payout_batches')
      .select('reference')
      .executeTakeFirstOrThrow()
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', final_reference: reference })
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
    // Its payment is not final yet, and wakes it when it is.
    await ledger.request({ purpose: { kind: 'earn_deposit', id: 'edp_1' } })
    expect(await looks()).toHaveLength(1)
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
    expect(await ledger.count()).toBe(1)
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
    })
    const caps = { ...CAPS, perPayout: usdc(60_000_000n) }
    await advancePayout({ ...ledger.app, caps }, payout.id)
    expect(await ledger.rowOf(payout)).toMatchObject({
      state: 'signed',
      hold_code: null,
      reason: null,
    })
  })

  test('daily cap: ten concurrent workers sign at most the cap', async () => {
    const payouts = await Promise.all(
      Array.from({ length: 10 }, () => ledger.request({ amount: usdc(30_000_000n) })),
    )
    await Promise.all(payouts.map(({ id }) => advancePayout(ledger.app, id)))
    await ledger.submit()
    const rows = await Promise.all(payouts.map(ledger.rowOf))
    expect(rows.filter(({ state }) => state === 'signed')).toHaveLength(3)
    expect(rows.filter(({ state }) => state === 'held')).toHaveLength(7)
    await chain.mine(FINALITY)
    await Promise.all(payouts.map(ledger.advance))
    await Promise.all(payouts.map(ledger.advance))
    expect(await ledger.count()).toBe(3)
    // A day and an hour later there is room again, for three and not for all that waited.
    ledger.ctx.clock.advance(DAY + HOUR)
    await maintainLedgerPartitions(ledger.ctx)
    await Promise.all(payouts.map(ledger.advance))
    const after = await Promise.all(payouts.map(ledger.rowOf))
    expect(after.filter(({ state }) => state === 'signed')).toHaveLength(3)
    expect(after.filter(({ state }) => state === 'held')).toHaveLength(4)
  })

  test('freeze_payouts: nothing is signed or submitted; what was submitted can be mined', async () => {
    await chain.automine(false)
    const [submitted, signed, waiting] = [
      await ledger.request(),
      await ledger.request(),
      await ledger.request(),
    ]
    await ledger.advance(submitted)
    await advancePayout(ledger.app, signed.id)
    await ledger.freeze(true)
    const [authorization] = await ledger.signaturesOf(signed)
    const end = new Date(Number((authorization?.valid_to ?? 0n) + 1n) * SECOND)
    expect((await findAliveUntil(ledger.ctx.db)).get(NETWORK)).toEqual(end)
    expect(await ledger.advance(waiting)).toBe(30 * SECOND)
    expect(await ledger.rowOf(waiting)).toMatchObject({ state: 'held', hold_code: 'payouts_frozen' })
    await chain.mine(FINALITY)
    await ledger.advance(submitted)
    expect((await ledger.rowOf(submitted)).state).toBe('final')
    await ledger.advance(signed)
    expect([await ledger.holds(signed), (await ledger.rowOf(signed)).state]).toEqual([0n, 'signed'])
    await ledger.freeze(false)
    await ledger.advance(waiting)
    await chain.mine(1)
    expect([await ledger.holds(signed), await ledger.holds(waiting)]).toEqual([5_000_000n, 5_000_000n])
  })

  test('many payouts leave in one transaction of a gas account; the treasury sends none', async () => {
    const payouts = await Promise.all(Array.from({ length: 12 }, () => ledger.request({ amount: usdc(1n) })))
    for (const { id } of payouts) await advancePayout(ledger.app, id)
    await ledger.submit()
    await chain.mine(FINALITY)
    for (const payout of payouts) await ledger.advance(payout)
    const rows = await Promise.all(payouts.map(ledger.rowOf))
    expect(rows.map(({ state }) => state)).toEqual(Array(12).fill('final'))
    expect(new Set(rows.map((row) => row.final_reference)).size).toBe(1)
    expect(await chain.rpc('eth_getTransactionCount', [ledger.account.address, 'latest'])).toBe('0x0')
    const costs = await ledger.ctx.db.selectFrom('payout_costs').select('native').execute()
    expect(new Set(costs.map(({ native }) => native)).size).toBe(1)
  })

  test('payee rejected: the payout fails without a signature, and the amount stays reserved', async () => {
    const payout = await ledger.request()
    await chain.deny(payout.payee as Address, true)
    expect(await ledger.advance(payout)).toBeUndefined()
    expect((await ledger.rowOf(payout)).state).toBe('failed')
    expect((await ledger.rowOf(payout)).reason).toMatch(/blacklisted/i)
    expect(await ledger.signaturesOf(payout)).toEqual([])
    expect(await ledger.reserved(payout)).toBe(5_000_000n)
  })

  test('payee rejected after it was signed: others are paid, and it fails when nothing can pay it any more', async () => {
    const [bad, good] = [await ledger.request(), await ledger.request()]
    for (const { id } of [bad, good]) await advancePayout(ledger.app, id)
    await chain.deny(bad.payee as Address, true)
    await ledger.submit()
    await expect.poll(() => ledger.holds(good)).toBe(5_000_000n)
    expect(await ledger.holds(bad)).toBe(0n)
    expect(await ledger.rowOf(bad)).toMatchObject({ state: 'signed', hold_code: 'broadcast_error' })
    expect((await ledger.rowOf(bad)).hold_detail).toMatch(/blacklisted/i)
    const limits = (await payoutLimitMetrics(ledger.ctx)).find(({ network }) => network === NETWORK)
    expect(limits?.heldBy).toEqual({ broadcast_error: 1 })
    // With ten minutes left it is not signed again, and with none left in a final block it fails.
    await chain.rpc('evm_increaseTime', [21 * 60])
    await chain.mine(1)
    expect(await ledger.advance(bad)).toBe(30 * SECOND)
    expect(await ledger.rowOf(bad)).toMatchObject({ state: 'signed', hold_code: 'authorization_alive' })
    await chain.rpc('evm_increaseTime', [10 * 60])
    await chain.mine(1)
    await ledger.advance(bad)
    expect((await ledger.rowOf(bad)).state).toBe('signed')
    await chain.mine(FINALITY)
    expect(await ledger.advance(bad)).toBeUndefined()
    expect((await ledger.rowOf(bad)).state).toBe('failed')
    expect(await ledger.signaturesOf(bad)).toHaveLength(1)
    expect(await ledger.reserved(bad)).toBe(5_000_000n)
    expect((await totals(ledger.ctx.db, NETWORK)).imbalance).toBe(0n)
  })

  test('an authorization that expires soon is signed again with the same terms, and the payout is paid once', async () => {
    await chain.automine(false)
    const payout = await ledger.request()
    await advancePayout(ledger.app, payout.id)
    await chain.rpc('evm_increaseTime', [21 * 60])
    await chain.mine(1)
    await ledger.advance(payout)
    const signatures = await ledger.signaturesOf(payout)
    expect(signatures.map(({ is_dead }) => is_dead)).toEqual([true, false])
    // Anybody who has the first one can submit it too.
    await chain.call(newAccount(), chain.usdc, signatures[0]?.bytes as Hex).catch(() => undefined)
    await chain.mine(FINALITY)
    await ledger.advance(payout)
    expect((await ledger.rowOf(payout)).state).toBe('final')
    expect(await ledger.holds(payout)).toBe(5_000_000n)
    expect(await ledger.count()).toBe(1)
  })

  test('an authorization that another account submits: the payout is final by its transaction', async () => {
    const payout = await ledger.request()
    await advancePayout(ledger.app, payout.id)
    const [signature] = await ledger.signaturesOf(payout)
    const stranger = newAccount()
    await chain.fund(stranger.address)
    const reference = await chain.call(stranger, chain.usdc, signature?.bytes as Hex)
    await chain.mine(FINALITY)
    await ledger.advance(payout)
    expect(await ledger.rowOf(payout)).toMatchObject({ state: 'final', final_reference: reference })
    expect(await ledger.count()).toBe(1)
  })

  test('stuck for a minute: another gas account overtakes, then the same one with a higher fee', async () => {
    await chain.automine(false)
    const payout = await ledger.request()
    await ledger.advance(payout)
    const batches = () => ledger.ctx.db.selectFrom('payout_batches').selectAll().orderBy('sent_at').execute()
    await chain.rpc('anvil_dropAllTransactions')
    await ledger.advance(payout)
    expect(await batches()).toHaveLength(1)
    ledger.ctx.clock.advance(MINUTE + SECOND)
    await ledger.advance(payout)
    const [first, second] = await batches()
    expect(second?.account).not.toBe(first?.account)
    await chain.rpc('anvil_dropAllTransactions')
    ledger.ctx.clock.advance(MINUTE + SECOND)
    await ledger.advance(payout)
    const replaced = (await batches()).find(({ account }) => account === first?.account)
    expect(replaced?.nonce).toBe(first?.nonce)
    for (const fee of ['max_fee_per_gas', 'max_priority_fee_per_gas'] as const)
      expect((replaced?.[fee] ?? 0n) * 1000n).toBeGreaterThanOrEqual((first?.[fee] ?? 0n) * 1125n)
    await chain.mine(FINALITY)
    await ledger.advance(payout)
    expect((await ledger.rowOf(payout)).state).toBe('final')
    expect(await ledger.count()).toBe(1)
  })

  test('gas accounts without coin: fees that no node took do not rise, and payouts go on after a refill', async () => {
    const payout = await ledger.request()
    await advancePayout(ledger.app, payout.id)
    const [first, second] = ledger.account.gas
    for (const { address } of ledger.account.gas) await chain.fund(address, 0n)
    for (let minute = 0; minute < 5; minute++) {
      await ledger.submit()
      ledger.ctx.clock.advance(MINUTE + SECOND)
    }
    expect((await ledger.rowOf(payout)).hold_code).toBe('broadcast_error')
    const batches = await ledger.ctx.db.selectFrom('payout_batches').selectAll().execute()
    expect(batches.map((one) => one.max_fee_per_gas)).toEqual([0n, 0n])
    // One account is enough.
    await chain.fund(second.address)
    for (let minute = 0; minute < 2; minute++) {
      await ledger.submit()
      ledger.ctx.clock.advance(MINUTE + SECOND)
    }
    expect(await chain.rpc('eth_getTransactionCount', [first.address, 'latest'])).toBe('0x0')
    expect(await ledger.holds(payout)).toBe(5_000_000n)
  })

  test('an address that nobody can pay: the payout fails before it is signed', async () => {
    const payout = await ledger.request({ payee: chain.usdc })
    expect(await ledger.advance(payout)).toBeUndefined()
    expect(await ledger.rowOf(payout)).toMatchObject({
      state: 'failed',
      reason: 'the address of USDC itself',
    })
  })

  test('signatures that the api calls dead are submitted all the same', async () => {
    const payout = await ledger.request()
    await advancePayout(ledger.app, payout.id)
    await ledger.ctx.db.updateTable('payout_signatures').set({ is_dead: true }).execute()
    await ledger.submit()
    // A node answers before it has mined what it was sent.
    await expect.poll(() => ledger.holds(payout)).toBe(5_000_000n)
  })

  test.each(['order_mismatch', 'new_address'])(
    '%s: a suspended payout stays suspended under a freeze, and is not submitted after it',
    async (code) => {
      const payout = await ledger.request()
      await advancePayout(ledger.app, payout.id)
      await ledger.ctx.db
        .updateTable('payouts')
        .set({ hold_code: code, reason: 'found wrong' })
        .where('id', '=', payout.id)
        .execute()
      await ledger.freeze(true)
      await chain.rpc('evm_increaseTime', [21 * 60])
      await chain.mine(1)
      await ledger.advance(payout)
      expect((await ledger.rowOf(payout)).hold_code).toBe(code)
      await ledger.freeze(false)
      await ledger.submit()
      expect(await ledger.holds(payout)).toBe(0n)
    },
  )

  test('no native coin for fees: the payout is held', async () => {
    for (const { address } of ledger.account.gas) await chain.fund(address, 0n)
    const payout = await ledger.request()
    expect(await ledger.advance(payout)).toBe(30 * SECOND)
    expect((await ledger.rowOf(payout)).hold_code).toBe('fee_balance_low')
    for (const { address } of ledger.account.gas) await chain.fund(address)
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
