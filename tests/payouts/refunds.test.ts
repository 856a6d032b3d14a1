import { evmChain } from '@market/chains/evm/evm-chain'
import { usdc } from '@market/kernel/money'
import { balanceOf, fees, maintainLedgerPartitions, surplus, suspense, totals } from '@market/money/ledger'
import { claimTransfer, findPayment, parsePurpose } from '@market/money/payments'
import { recognizeRevenue, refundTransfer, returnSurplus } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeEach, expect, test } from 'vitest'
import {
  CONFIRMATIONS,
  FINALITY,
  fundedPayer,
  newAccount,
  question,
  settingsFor,
} from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'

const NETWORK = 'base-mainnet'
const chain = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(chain)
afterAll(() => chain.stop())

const MINIMUM = usdc(200_000n)

const openTreasury = async () => {
  const treasury = newAccount().address
  const database = await testDatabase()
  const chains = { [NETWORK]: evmChain(settingsFor(chain, treasury, { minPayout: MINIMUM })) }
  const ctx = { ...marketContext({ db: database.db }), chains }
  await maintainLedgerPartitions(ctx)
  return {
    ctx,
    /** A confirmed transfer that no purpose claims. */
    receive: async (amount: bigint) => {
      const reference = await chain.transfer(payer, treasury, amount)
      await chain.mine(CONFIRMATIONS)
      await follow(ctx, NETWORK)
      return reference
    },
    /** Makes every transfer final, in the chain and in the database. */
    finalize: async () => {
      await chain.mine(FINALITY)
      await ctx.db.updateTable('transfers').set({ state: 'final' }).where('state', '=', 'seen').execute()
    },
    refund: (reference: string, from: 'suspense' | 'surplus', approvedPayee?: string) =>
      ctx.transact((tx) =>
        refundTransfer(ctx, tx, {
          network: NETWORK,
          reference,
          index: 0,
          from,
          ...(approvedPayee !== undefined && { approvedPayee }),
        }),
      ),
    recognize: (reference: string, ownWallets = [payer.address.toLowerCase()]) =>
      ctx.transact((tx) => recognizeRevenue(ctx, tx, { network: NETWORK, reference, index: 0, ownWallets })),
    stop: database.stop,
  }
}

let app: Awaited<ReturnType<typeof openTreasury>>
beforeEach(async () => {
  app = await openTreasury()
  return () => app.stop()
})

test('refund: pays an unclaimed transfer back to its payer once, when it is final', async () => {
  const reference = await app.receive(7_000_000n)
  await expect(app.refund(reference, 'suspense')).rejects.toThrow('not final yet')
  await app.finalize()
  const payout = await app.refund(reference, 'suspense')
  expect(payout).toMatchObject({
    kind: 'surplus',
    state: 'queued',
    amount: 7_000_000n,
    payee: payer.address.toLowerCase(),
  })
  expect(await app.refund(reference, 'suspense')).toEqual(payout)
  expect(await balanceOf(app.ctx.db, suspense(NETWORK, reference))).toBe(0n)
  expect((await totals(app.ctx.db, NETWORK)).liabilities.payable).toBe(7_000_000n)
})

test('refund: pays back the surplus and leaves the amount due in escrow', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  const seen = await findPayment(app.ctx, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  const claim = { network: NETWORK, seen, purpose: parsePurpose('order:1'), due: usdc(5_000_000n) } as const
  await app.ctx.transact((tx) => claimTransfer(app.ctx, tx, claim))
  await expect(app.refund(reference, 'suspense')).rejects.toThrow('has no money in suspense')
  expect(await app.refund(reference, 'surplus')).toMatchObject({ amount: 2_000_000n })
  expect(await balanceOf(app.ctx.db, surplus(NETWORK, reference))).toBe(0n)
  expect((await totals(app.ctx.db, NETWORK)).liabilities.escrow).toBe(5_000_000n)
})

test('refund: money below the minimum payout stays in suspense, whoever asks', async () => {
  const reference = await app.receive(199_999n)
  await app.finalize()
  for (const approvedPayee of [undefined, newAccount().address])
    await expect(app.refund(reference, 'suspense', approvedPayee)).rejects.toMatchObject({
      kind: 'conflict',
      extra: { code: 'below_minimum' },
    })
  expect(await balanceOf(app.ctx.db, suspense(NETWORK, reference))).toBe(199_999n)
  expect((await totals(app.ctx.db, NETWORK)).liabilities.payable).toBe(0n)
})

test('surplus: is returned from the minimum payout on, and stays listed below it', async () => {
  const due = usdc(5_000_000n)
  for (const [excess, returned] of [
    [199_999n, 0n],
    [200_000n, 200_000n],
  ] as const) {
    const reference = await app.receive(due + excess)
    const seen = await findPayment(app.ctx, NETWORK, question(reference))
    if (seen === undefined) throw new Error('the transfer was not found')
    const purpose = parsePurpose(`order:${excess}`)
    const paid = { network: NETWORK, subject: `order:${excess}`, purpose, due } as const
    await app.ctx.transact(async (tx) => {
      await claimTransfer(app.ctx, tx, { network: NETWORK, seen, purpose, due })
      await returnSurplus(app.ctx, tx, paid, seen)
    })
    expect(await balanceOf(app.ctx.db, surplus(NETWORK, reference))).toBe(excess - returned)
  }
})

test('claim: a refunded transfer is rejected with transfer_used and stays unclaimed', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  await app.refund(reference, 'suspense')
  const seen = await findPayment(app.ctx, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  const claim = { network: NETWORK, seen, purpose: parsePurpose('order:1'), due: usdc(5_000_000n) } as const
  const rejected = await app.ctx.transact((tx) =>
    claimTransfer(app.ctx, tx, claim).catch((error: unknown) => error),
  )
  expect(rejected).toMatchObject({ kind: 'conflict', extra: { code: 'transfer_used' } })
  const rows = await app.ctx.db.selectFrom('transfers').select(['reference', 'purpose']).execute()
  expect(rows).toEqual([{ reference, purpose: '' }])
})

test('refund: without an approved payee, rejects a transfer whose payer is unknown', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  const elsewhere = newAccount().address
  await app.ctx.db.updateTable('transfers').set({ payer: null }).execute()
  await expect(app.refund(reference, 'suspense')).rejects.toThrow('The payer of this money is unknown')
  expect(await app.refund(reference, 'suspense', elsewhere)).toMatchObject({ payee: elsewhere })
})

test('refund: rejects an unknown transfer and one that the chain reversed', async () => {
  const nothing = `0x${'0'.repeat(64)}`
  await expect(app.refund(nothing, 'suspense')).rejects.toMatchObject({ kind: 'not_found' })
  const reference = await app.receive(7_000_000n)
  await app.ctx.db.updateTable('transfers').set({ state: 'gone' }).execute()
  await expect(app.refund(reference, 'suspense')).rejects.toThrow('The chain reversed this transfer')
})

test('recognize: rejects a transfer from a wallet that is not listed as the platform’s', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  for (const ownWallets of [[], [newAccount().address.toLowerCase()]])
    await expect(app.recognize(reference, ownWallets)).rejects.toMatchObject({
      extra: { code: 'not_our_wallet' },
    })
  await app.ctx.db.updateTable('transfers').set({ payer: null }).execute()
  await expect(app.recognize(reference)).rejects.toMatchObject({ extra: { code: 'not_our_wallet' } })
  expect(await balanceOf(app.ctx.db, fees(NETWORK))).toBe(0n)
})

test('recognize: moves a final transfer from suspense to the fees once', async () => {
  const reference = await app.receive(7_000_000n)
  await expect(app.recognize(reference)).rejects.toThrow('not final yet')
  await app.finalize()
  await app.recognize(reference)
  await expect(app.recognize(reference)).rejects.toThrow('has no money in suspense')
  await expect(app.refund(reference, 'suspense')).rejects.toThrow('has no money in suspense')
  expect(await balanceOf(app.ctx.db, fees(NETWORK))).toBe(7_000_000n)
})
