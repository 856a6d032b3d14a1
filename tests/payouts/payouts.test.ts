import { DAY, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { maintainLedgerPartitions, totals } from '@market/money/ledger'
import { advanceDue, advancePayout, duePayouts } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import { CAPS, FLOAT, NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

describe('payouts', () => {
  let books: PayoutLedger
  beforeEach(async () => {
    await chain.automine(true)
    books = await startPayoutLedger(chain)
    return books.stop
  })

  test('one is asked for, signed, and final only when its block stays; then the money has left the ledger', async () => {
    const payout = await books.ask()
    expect(await books.setAside(payout)).toBe(5_000_000n)
    expect(await books.advance(payout)).toBe(SECOND)
    expect(await books.rowOf(payout)).toMatchObject({ state: 'signed', nonce: 0n, reason: null })
    expect(await books.holds(payout)).toBe(5_000_000n)
    expect(await books.advance(payout)).toBe(SECOND)
    expect(await books.setAside(payout)).toBe(5_000_000n)
    await chain.mine(FINALITY)
    expect(await books.advance(payout)).toBeUndefined()
    const [signature] = await books.signaturesOf(payout)
    expect(await books.rowOf(payout)).toMatchObject({
      state: 'final',
      final_reference: signature?.reference,
    })
    expect(await books.setAside(payout)).toBe(0n)
    const { treasuryView, imbalance } = await totals(books.ctx.db, NETWORK)
    expect({ treasuryView, imbalance }).toEqual({ treasuryView: FLOAT - 5_000_000n, imbalance: 0n })
    expect(await chain.balanceOf(books.account.address)).toBe(treasuryView)
  })

  test('asked for twice, even at once, it is one payout and the money is set aside once', async () => {
    const same = { subject: 'order-x', payee: newAccount().address }
    const asked = await Promise.all(Array.from({ length: 8 }, () => books.ask(same)))
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1)
    expect((await totals(books.ctx.db, NETWORK)).liabilities.payable).toBe(5_000_000n)
    const refund = await books.ask({ ...same, kind: 'refund' })
    expect(refund.id).not.toBe(asked[0]?.id)
    await expect(books.ask({ ...same, amount: usdc(6n) })).rejects.toThrow('requested with another amount')
  })

  test('twenty workers that advance one payout at every step sign once, pay once and settle once', async () => {
    const payout = await books.ask()
    const all = () => Promise.all(Array.from({ length: 20 }, () => books.advance(payout)))
    await all()
    await all()
    await chain.mine(FINALITY)
    await all()
    expect(await books.signaturesOf(payout)).toHaveLength(1)
    expect(await books.holds(payout)).toBe(5_000_000n)
    expect(await books.count()).toBe(1n)
    expect((await books.rowOf(payout)).state).toBe('final')
    const journals = await books.ctx.db.selectFrom('ledger_journals').select('key').execute()
    expect(journals.filter(({ key }) => key === `payout.sent:${payout.id}`)).toHaveLength(1)
  })

  test('one above the cap is held with the reason, and the reason goes when the cap lets it through', async () => {
    const payout = await books.ask({ amount: usdc(60_000_000n) })
    expect(await books.advance(payout)).toBe(30 * SECOND)
    expect(await books.rowOf(payout)).toMatchObject({
      state: 'held',
      hold_code: 'payout_cap',
      hold_detail: '50.00 USDC',
      nonce: null,
    })
    const caps = { ...CAPS, perPayout: usdc(60_000_000n) }
    await advancePayout({ ...books.app, caps }, payout.id)
    expect(await books.rowOf(payout)).toMatchObject({
      state: 'signed',
      hold_code: null,
      reason: null,
      nonce: 0n,
    })
  })

  test('ten workers at once let through no more than the cap of a day, and leave no nonce unused', async () => {
    const payouts = await Promise.all(
      Array.from({ length: 10 }, () => books.ask({ amount: usdc(30_000_000n) })),
    )
    await Promise.all(payouts.map(books.advance))
    const rows = await Promise.all(payouts.map(books.rowOf))
    expect(
      rows
        .filter(({ state }) => state === 'signed')
        .map(({ nonce }) => nonce)
        .toSorted(),
    ).toEqual([0n, 1n, 2n])
    expect(rows.filter(({ state }) => state === 'held')).toHaveLength(7)
    await chain.mine(FINALITY)
    await Promise.all(payouts.map(books.advance))
    await Promise.all(payouts.map(books.advance))
    expect(await books.count()).toBe(3n)
    // A day later there is room again, for three and not for all that waited.
    books.ctx.clock.advance(DAY + SECOND)
    await maintainLedgerPartitions(books.ctx)
    await Promise.all(payouts.map(books.advance))
    const after = await Promise.all(payouts.map(books.rowOf))
    expect(after.filter(({ state }) => state === 'signed')).toHaveLength(3)
    expect(after.filter(({ state }) => state === 'held')).toHaveLength(4)
  })

  test('a freeze holds what is not yet let through, and what is signed goes on', async () => {
    await chain.automine(false)
    const [signed, waiting] = [await books.ask(), await books.ask()]
    await books.advance(signed)
    await books.freeze(true)
    expect(await books.advance(waiting)).toBe(30 * SECOND)
    expect(await books.rowOf(waiting)).toMatchObject({ state: 'held', hold_code: 'payouts_frozen' })
    await chain.mine(FINALITY)
    await books.advance(signed)
    expect((await books.rowOf(signed)).state).toBe('final')
    await books.freeze(false)
    await books.advance(waiting)
    expect(await books.rowOf(waiting)).toMatchObject({ state: 'signed', reason: null })
  })

  test('a numbered payout is signed under a freeze, for its unused number would block all later ones', async () => {
    const [first, second] = [await books.ask(), await books.ask()]
    const dead = { ...books.sender, sign: () => Promise.reject(new Error('the worker died')) }
    const dying = advancePayout({ ...books.app, payoutSenders: { [NETWORK]: dead } }, first.id)
    await expect(dying).rejects.toThrow('the worker died')
    expect(await books.rowOf(first)).toMatchObject({ state: 'nonce_assigned', nonce: 0n })
    await books.advance(second)
    expect(await books.holds(second)).toBe(0n)
    await books.freeze(true)
    await books.advance(first)
    // The node mines what waited for an earlier number a moment after that one.
    await chain.mine(1)
    expect([await books.holds(first), await books.holds(second)]).toEqual([5_000_000n, 5_000_000n])
  })

  test('a payee that can never be paid is rejected before a nonce is taken, and the money stays set aside', async () => {
    const payout = await books.ask()
    await chain.deny(payout.payee as Address, true)
    expect(await books.advance(payout)).toBeUndefined()
    expect(await books.rowOf(payout)).toMatchObject({ state: 'failed', nonce: null })
    expect((await books.rowOf(payout)).reason).toMatch(/blacklisted/i)
    expect(await books.setAside(payout)).toBe(5_000_000n)
    const other = await books.ask()
    await books.advance(other)
    expect((await books.rowOf(other)).nonce).toBe(0n)
  })

  test('one that fails on chain uses its nonce, keeps the money set aside and blocks nobody', async () => {
    await chain.automine(false)
    const [bad, good] = [await books.ask(), await books.ask()]
    await books.advance(bad)
    await books.advance(good)
    await chain.rpc('anvil_dropAllTransactions')
    await chain.automine(true)
    await chain.deny(bad.payee as Address, true)
    for (const payout of [bad, good]) await books.advance(payout)
    await chain.mine(FINALITY)
    for (const payout of [bad, good]) await books.advance(payout)
    expect(await books.rowOf(bad)).toMatchObject({
      state: 'failed',
      reason: 'the transfer reverted',
      nonce: 0n,
    })
    expect(await books.setAside(bad)).toBe(5_000_000n)
    expect((await books.rowOf(good)).state).toBe('final')
    expect((await totals(books.ctx.db, NETWORK)).imbalance).toBe(0n)
  })

  test('only the first in line is replaced when nobody mines it for a minute, at its nonce and for more', async () => {
    await chain.automine(false)
    const [first, second] = [await books.ask(), await books.ask()]
    for (const payout of [first, second]) await books.advance(payout)
    await chain.rpc('anvil_dropAllTransactions')
    await books.advance(first)
    expect(await books.signaturesOf(first)).toHaveLength(1)
    await chain.rpc('anvil_dropAllTransactions')
    books.ctx.clock.advance(MINUTE + SECOND)
    for (const payout of [first, second]) await books.advance(payout)
    const [before, after] = await books.signaturesOf(first)
    expect(await books.signaturesOf(second)).toHaveLength(1)
    expect(after?.nonce).toBe(before?.nonce)
    for (const fee of ['max_fee_per_gas', 'max_priority_fee_per_gas'] as const)
      expect(BigInt(after?.[fee] ?? 0) * 1000n).toBeGreaterThanOrEqual(BigInt(before?.[fee] ?? 0) * 1125n)
    // Not again before another minute has passed.
    await books.advance(first)
    expect(await books.signaturesOf(first)).toHaveLength(2)
    await chain.mine(FINALITY)
    for (const payout of [first, second]) await books.advance(payout)
    expect([await books.holds(first), await books.holds(second)]).toEqual([5_000_000n, 5_000_000n])
  })

  test('nothing leaves while the chain knows payments of the treasury that the ledger do not', async () => {
    const [first, second] = [await books.ask(), await books.ask()]
    await books.advance(first)
    await chain.transfer(books.account, newAccount().address, 1n)
    expect(await books.advance(second)).toBe(30 * SECOND)
    expect(await books.rowOf(second)).toMatchObject({
      state: 'held',
      hold_code: 'nonce_mismatch',
      hold_detail: '2 on the chain, 1 in the ledger',
    })
  })

  test('one waits while the treasury has no coin for fees', async () => {
    await chain.fund(books.account.address, 0n)
    const payout = await books.ask()
    expect(await books.advance(payout)).toBe(30 * SECOND)
    expect((await books.rowOf(payout)).hold_code).toBe('fee_balance_low')
    await chain.fund(books.account.address)
    await books.advance(payout)
    expect((await books.rowOf(payout)).state).toBe('signed')
  })

  test('what is due is given to one worker, and comes back when that one died', async () => {
    const payouts = await Promise.all(Array.from({ length: 6 }, () => books.ask()))
    const ids = payouts.map(({ id }) => id).toSorted()
    const taken = await Promise.all(Array.from({ length: 6 }, () => duePayouts(books.app, NETWORK, 2)))
    expect(taken.flat().toSorted()).toEqual(ids)
    expect(await duePayouts(books.app, NETWORK, 10)).toEqual([])
    expect(await duePayouts(books.app, 'solana-mainnet', 10)).toEqual([])
    books.ctx.clock.advance(5 * SECOND)
    expect((await duePayouts(books.app, NETWORK, 10)).toSorted()).toEqual(ids)
    const [payout] = payouts
    if (payout === undefined) throw new Error('none')
    await advanceDue(books.app, payout.id)
    books.ctx.clock.advance(SECOND)
    expect(await duePayouts(books.app, NETWORK, 10)).toEqual([payout.id])
  })
})
