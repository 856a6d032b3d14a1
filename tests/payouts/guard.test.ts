import { SECOND } from '@market/kernel/clock'
import { markOf } from '@market/kernel/payout-mark'
import { advancePayout, type Payout } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Hex } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, newAccount } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

let ledger: PayoutLedger
beforeEach(async () => {
  await chain.automine(true)
  ledger = await startPayoutLedger(chain, { compared: false })
  return () => ledger.stop()
})

const positionOf = async () =>
  (await ledger.ctx.db.selectFrom('followed_networks').select('position').executeTakeFirstOrThrow()).position

const markIn = (payout: Payout) => markOf(NETWORK, payout)

const startEpoch = () =>
  ledger.ctx.db.updateTable('payout_guards').set({ database_epoch: 'an earlier epoch' }).execute()

test('a payout is held with not_compared until the chain was compared, then signed', async () => {
  const payout = await ledger.request()
  expect(await ledger.advance(payout)).toBe(2 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'held', hold_code: 'not_compared' })
  expect(await ledger.signaturesOf(payout)).toEqual([])
  await ledger.compare()
  expect(await ledger.advance(payout)).toBe(8 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'signed', hold_code: null, reason: null })
})

test('a new database epoch is compared again, from the stored position', async () => {
  await ledger.compare()
  const before = await ledger.guard()
  await startEpoch()
  const payout = await ledger.request()
  await advancePayout(ledger.app, payout.id)
  expect((await ledger.rowOf(payout)).hold_code).toBe('not_compared')
  const position = await positionOf()
  await chain.mine(1)
  await follow(ledger.app, NETWORK)
  const after = await ledger.guard()
  expect(after.database_epoch).toBe(before.database_epoch)
  expect(await positionOf()).not.toBe(position)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('signed')
})

test('what was signed is not stored in a new database epoch before the chain was compared', async () => {
  await ledger.compare()
  const payout = await ledger.request()
  const sign: typeof ledger.sender.sign = async (...request) => {
    const signed = await ledger.sender.sign(...request)
    await startEpoch()
    return signed
  }
  const late = { ...ledger.app, payoutSenders: { [NETWORK]: { ...ledger.sender, sign } } }
  expect(await advancePayout(late, payout.id)).toBe(2 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({ state: 'held', hold_code: 'not_compared' })
  expect(await ledger.signaturesOf(payout)).toEqual([])
  await ledger.submit()
  expect(await ledger.count()).toBe(0)
  await ledger.compare()
  await ledger.advance(payout)
  expect(await ledger.signaturesOf(payout)).toHaveLength(1)
})

test('a reading of an earlier database epoch does not complete the comparison of a new one', async () => {
  const base = ledger.app.chains[NETWORK]
  const slow = {
    ...base,
    movementsAfter: async (...input: Parameters<NonNullable<typeof base.movementsAfter>>) => {
      const page = await base.movementsAfter?.(...input)
      await startEpoch()
      return page
    },
  }
  await follow({ ...ledger.app, chains: { [NETWORK]: slow } }, NETWORK)
  expect((await ledger.guard()).compared_at).toBeNull()
})

test('the comparison completes only when the final block has reached the horizon', async () => {
  const base = ledger.app.chains[NETWORK]
  const behind = { ...base, heights: async () => ({ final: 99n, horizon: 100n }) }
  await follow({ ...ledger.app, chains: { [NETWORK]: behind } }, NETWORK)
  expect((await ledger.guard()).compared_at).toBeNull()
  const there = { ...base, heights: async () => ({ final: 100n, horizon: 250n }) }
  await follow({ ...ledger.app, chains: { [NETWORK]: there } }, NETWORK)
  expect(await ledger.guard()).toMatchObject({ horizon: 100n })
  expect((await ledger.guard()).compared_at).not.toBeNull()
})

test('a short treasury holds payouts with treasury_short, and short_since is when the shortage began', async () => {
  await ledger.compare()
  await ledger.shortBy(2_500_000n)
  const { short_since: since } = await ledger.guard()
  ledger.ctx.clock.advance(SECOND)
  await ledger.shortBy(3_000_000n)
  expect(await ledger.guard()).toMatchObject({ short_since: since, short_micros: 3_000_000n })
  const payout = await ledger.request()
  expect(await ledger.advance(payout)).toBe(30 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({
    hold_code: 'treasury_short',
    reason: 'The treasury holds less USDC than it owes: 3.00 USDC are missing',
  })
  await ledger.shortBy(0n)
  expect(await ledger.guard()).toMatchObject({ short_since: null, short_micros: 0n })
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('signed')
})

test('a shortage stored before the first comparison remains after it', async () => {
  await ledger.shortBy(1n)
  await ledger.compare()
  expect(await ledger.guard()).toMatchObject({ short_micros: 1n })
  expect((await ledger.guard()).compared_at).not.toBeNull()
})

test('every outgoing transfer is stored once when 20 workers read at once', async () => {
  await ledger.compare()
  const payouts = await Promise.all(Array.from({ length: 4 }, () => ledger.request()))
  for (const { id } of payouts.slice(0, 3)) await advancePayout(ledger.app, id)
  await ledger.submit()
  for (const payout of payouts.slice(3)) await ledger.advance(payout)
  ledger.ctx.clock.advance(10 * SECOND)
  await Promise.all(Array.from({ length: 20 }, () => follow(ledger.app, NETWORK)))
  const seen = await ledger.outgoingTransfers()
  expect(seen.map(({ mark }) => mark).toSorted()).toEqual(payouts.map(markIn).toSorted())
  expect(new Set(seen.map(({ reference }) => reference)).size).toBe(2)
  expect(seen.every(({ is_final }) => !is_final)).toBe(true)
  await chain.mine(FINALITY)
  await ledger.compare()
  expect((await ledger.outgoingTransfers()).map(({ is_final }) => is_final)).toEqual([true, true, true, true])
})

test('after a reorganization, a reversed transfer is deleted and a moved one has its new block', async () => {
  await ledger.compare()
  const [moved, reversed] = [await ledger.request(), await ledger.request()]
  const stranger = newAccount()
  await chain.fund(stranger.address)
  await chain.automine(false)
  for (const payout of [moved, reversed]) await ledger.advance(payout)
  await chain.mine(1)
  await ledger.compare()
  const before = await ledger.outgoingTransfers()
  expect(before).toHaveLength(2)
  await chain.reorg(1)
  await chain.rpc('anvil_dropAllTransactions')
  const [signature] = await ledger.signaturesOf(moved)
  await chain.call(stranger, chain.usdc, signature?.bytes as Hex)
  await chain.mine(2)
  await ledger.compare()
  await chain.mine(FINALITY)
  await ledger.compare()
  const after = await ledger.outgoingTransfers()
  expect(after).toMatchObject([{ mark: markIn(moved), is_final: true }])
  expect(after[0]?.block_hash).not.toBe(before[0]?.block_hash)
})

test('a freeze of one network stops signing and submitting on that network only', async () => {
  await ledger.compare()
  await ledger.freeze(true, 'freeze_payouts_alt')
  const [first, signed, second] = [await ledger.request(), await ledger.request(), await ledger.request()]
  await ledger.advance(first)
  expect((await ledger.rowOf(first)).state).toBe('signed')
  expect(await ledger.holds(first)).toBe(5_000_000n)
  await advancePayout(ledger.app, signed.id)
  await ledger.freeze(true, 'freeze_payouts_base')
  await ledger.advance(second)
  expect((await ledger.rowOf(second)).hold_code).toBe('network_frozen')
  await ledger.submit()
  expect([await ledger.holds(signed), await ledger.count()]).toEqual([0n, 1])
  await ledger.freeze(false, 'freeze_payouts_base')
  await ledger.advance(second)
  expect((await ledger.rowOf(second)).state).toBe('signed')
  expect([await ledger.holds(signed), await ledger.holds(second)]).toEqual([5_000_000n, 5_000_000n])
})

test('a payout is held with balance_low while the treasury does not cover it and the signed payouts', async () => {
  await ledger.compare()
  await chain.automine(false)
  await chain.fund(ledger.account.address)
  await chain.transfer(ledger.account, newAccount().address, 1_000_000_000n - 11_000_000n)
  await chain.mine(1)
  const [first, second, third] = [await ledger.request(), await ledger.request(), await ledger.request()]
  for (const payout of [first, second, third]) await ledger.advance(payout)
  expect((await ledger.rowOf(second)).state).toBe('signed')
  expect(await ledger.rowOf(third)).toMatchObject({
    state: 'held',
    hold_code: 'balance_low',
    reason: 'The treasury has too little USDC: it holds 11.00, of which 10.00 is for signed payouts',
  })
  await chain.mint(ledger.account.address, 4_000_000n)
  await chain.mine(1)
  await chain.mine(FINALITY)
  for (const payout of [first, second, third]) await ledger.advance(payout)
  expect((await ledger.rowOf(third)).state).toBe('signed')
})

test('a payout above all that the treasury holds is held with balance_low', async () => {
  await ledger.compare()
  await chain.fund(ledger.account.address)
  await chain.transfer(ledger.account, newAccount().address, 1_000_000_000n - 4_000_000n)
  const payout = await ledger.request()
  expect(await ledger.advance(payout)).toBe(2 * SECOND)
  expect(await ledger.rowOf(payout)).toMatchObject({
    state: 'held',
    hold_code: 'balance_low',
    hold_detail: 'it holds 4.00, of which 0.00 is for signed payouts',
  })
  expect(await ledger.signaturesOf(payout)).toEqual([])
  await chain.mint(ledger.account.address, 1_000_000n)
  await ledger.advance(payout)
  expect((await ledger.rowOf(payout)).state).toBe('signed')
})
