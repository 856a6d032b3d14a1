import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, escrow, fees, post, suspense, totals } from '@market/money/ledger'
import { claimTransfer, findPayment, parsePurpose } from '@market/money/payments'
import {
  findUnexplained,
  type Payout,
  pairTransfer,
  refundTransfer,
  writeOffTransfer,
} from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, question } from '../chains/evm-world.ts'
import { FLOAT, NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const PAID = 7_000_000n
const SENT = usdc(5_000_000n)

const chain = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(chain)
afterAll(() => chain.stop())

/** The database that went on, and one that was restored from before all that. */
let ledger: PayoutLedger
let restored: PayoutLedger
beforeEach(async () => {
  ledger = await startPayoutLedger(chain)
  restored = await startPayoutLedger(chain, { treasury: ledger.account, compared: false })
  return async () => {
    await ledger.stop()
    await restored.stop()
  }
})

const receive = (amount = PAID) => chain.transfer(payer, ledger.account.address, amount)

const payFinally = async (on: PayoutLedger, payout: Payout) => {
  await on.advance(payout)
  await chain.mine(FINALITY)
  await on.advance(payout)
  const { state, final_reference } = await on.rowOf(payout)
  expect(state).toBe('final')
  return final_reference ?? ''
}

/** The payment of an order and its payout, both of which the restored database reads from the chain. */
const lose = async (amount: Usdc = SENT) => {
  const received = await receive()
  const lost = await ledger.request({ amount })
  const sent = await payFinally(ledger, lost)
  await restored.compare()
  return { received, lost, sent }
}

const keyOf = (reference: string, network: Network = NETWORK) => ({ network, reference, index: 0 })

const pair = (sent: string, received: string, network?: Network) =>
  restored.ctx.transact((tx) =>
    pairTransfer(restored.ctx, tx, { sent: keyOf(sent), received: keyOf(received, network) }),
  )

const writeOff = (sent: string) =>
  restored.ctx.transact((tx) => writeOffTransfer(restored.ctx, tx, keyOf(sent)))

const refund = (received: string) =>
  restored.ctx.transact((tx) =>
    refundTransfer(restored.app, tx, { ...keyOf(received), from: 'suspense' as const }),
  )

const inSuspense = (reference: string) => balanceOf(restored.ctx.db, suspense(NETWORK, reference))
const unexplained = () => findUnexplained(restored.ctx.db, 10, undefined)

const expectLedgerMatchesChain = async () => {
  const { treasuryView, imbalance, liabilities } = await totals(restored.ctx.db, NETWORK)
  expect({ imbalance, payable: liabilities.payable }).toEqual({ imbalance: 0n, payable: 0n })
  expect(await chain.balanceOf(ledger.account.address)).toBe(treasuryView)
}

const earn = async (micros: bigint) => {
  const { ctx } = restored
  const moves = [{ from: escrow(NETWORK, 'float'), to: fees(NETWORK), amount: usdc(micros) }]
  const journal = { key: 'earned', reason: 'earned', subject: 'earned', network: NETWORK, moves } as const
  await ctx.transact((tx) => post(ctx, tx, journal))
}

test('pair: charges a lost payout to the money of its order, and the rest is refunded', async () => {
  const { received, sent } = await lose()
  expect(await unexplained()).toMatchObject([{ reference: sent, pairedWith: null }])
  expect(await inSuspense(received)).toBe(PAID)
  expect(await pair(sent, received)).toMatchObject({ reference: sent, pairedWith: received })
  expect(await unexplained()).toEqual([])
  expect(await inSuspense(received)).toBe(PAID - SENT)
  expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(0n)
  expect((await totals(restored.ctx.db, NETWORK)).treasuryView).toBe(FLOAT + PAID - SENT)
  await expectLedgerMatchesChain()

  const before = await chain.balanceOf(payer.address)
  const rest = await refund(received)
  expect(rest).toMatchObject({ amount: PAID - SENT, payee: payer.address.toLowerCase() })
  await payFinally(restored, rest)
  expect(await chain.balanceOf(payer.address)).toBe(before + PAID - SENT)
  expect(await inSuspense(received)).toBe(0n)
  await expectLedgerMatchesChain()
})

test('pair: several payments are charged to one transfer until its money is used', async () => {
  const { received, sent } = await lose()
  const second = await payFinally(ledger, await ledger.request({ amount: usdc(PAID - SENT) }))
  const third = await payFinally(ledger, await ledger.request({ amount: usdc(1n) }))
  await restored.compare()
  await pair(sent, received)
  await pair(second, received)
  await expect(pair(third, received)).rejects.toThrow('has no money in suspense')
  expect(await unexplained()).toMatchObject([{ reference: third }])
  expect(await inSuspense(received)).toBe(0n)
  expect((await totals(restored.ctx.db, NETWORK)).imbalance).toBe(0n)
})

test('pair: of two concurrent pairs with money for one, one is charged', async () => {
  const { received, sent } = await lose()
  const second = await payFinally(ledger, await ledger.request({ amount: SENT }))
  await restored.compare()
  const done = await Promise.allSettled([pair(sent, received), pair(second, received)])
  expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await inSuspense(received)).toBe(PAID - SENT)
  expect(await unexplained()).toHaveLength(1)
})

test('pair: requested again, the payout is recovered and its money returns to suspense', async () => {
  const { received, lost, sent } = await lose()
  await pair(sent, received)
  const { subject, payee, amount } = lost
  const again = await restored.request({ subject, payee, amount })
  await restored.advance(again)
  await restored.advance(again)
  expect(await restored.rowOf(again)).toMatchObject({ state: 'final', final_reference: sent })
  expect(await restored.count()).toBe(1)
  expect(await inSuspense(received)).toBe(PAID)
  expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(0n)
  expect(await unexplained()).toEqual([])
  await expectLedgerMatchesChain()
  await expect(pair(sent, received)).rejects.toThrow('already paired')

  const all = await refund(received)
  expect(all.amount).toBe(PAID)
  await payFinally(restored, all)
  expect(await restored.count()).toBe(2)
  await expectLedgerMatchesChain()
})

test('pair: a payment is written off or paired once', async () => {
  const { received, sent } = await lose()
  const second = await payFinally(ledger, await ledger.request({ amount: usdc(1_000_000n) }))
  await restored.compare()
  await earn(6_000_000n)
  await pair(sent, received)
  await expect(pair(sent, received)).rejects.toThrow(`already paired with transfer ${received}`)
  await expect(writeOff(sent)).rejects.toThrow(`already paired with transfer ${received}`)
  await writeOff(second)
  await expect(pair(second, received)).rejects.toThrow('already written off')
  expect(await inSuspense(received)).toBe(PAID - SENT)
  expect(await balanceOf(restored.ctx.db, fees(NETWORK))).toBe(5_000_000n)
  await expectLedgerMatchesChain()
})

test('pair: rejects another network, unknown transfers, and a payment above the money in suspense', async () => {
  const { received, sent } = await lose(usdc(PAID + 1n))
  await expect(pair(sent, received, 'alt-mainnet')).rejects.toThrow('the transfer on alt-mainnet')
  await expect(pair(received, received)).rejects.toMatchObject({ kind: 'not_found' })
  await expect(pair(sent, sent)).rejects.toMatchObject({ kind: 'not_found' })
  await expect(pair(sent, received)).rejects.toThrow('has 7.00 USDC in suspense')
  expect(await inSuspense(received)).toBe(PAID)
  expect(await unexplained()).toMatchObject([{ reference: sent, writtenOffAt: null }])
})

test('pair: rejects a payment and a transfer that are not final', async () => {
  const { received, sent } = await lose()
  const late = await receive()
  await ledger.advance(await ledger.request())
  await chain.mine(1)
  await restored.compare()
  const unfinal = (await restored.outgoingTransfers()).find(({ is_final }) => !is_final)
  await expect(pair(unfinal?.reference ?? '', received)).rejects.toThrow('This payment is not final yet')
  await expect(pair(sent, late)).rejects.toThrow('This transfer is not final yet')
  expect(await inSuspense(received)).toBe(PAID)
})

test('pair: rejects a payment whose payout is known, and a transfer that paid for a purpose', async () => {
  const { received, lost, sent } = await lose()
  const seen = await findPayment(restored.app, NETWORK, question(received))
  if (seen === undefined) throw new Error('the transfer was not found')
  const { subject, payee, amount } = lost
  const again = await restored.request({ subject, payee, amount })
  await expect(pair(sent, received)).rejects.toThrow(`This payment belongs to payout ${again.id}`)
  const other = await payFinally(ledger, await ledger.request())
  await restored.compare()
  const claim = { network: NETWORK, seen, purpose: parsePurpose('order:1'), due: SENT } as const
  await restored.ctx.transact((tx) => claimTransfer(restored.ctx, tx, claim))
  await expect(pair(other, received)).rejects.toThrow('paid for a purchase')
})
