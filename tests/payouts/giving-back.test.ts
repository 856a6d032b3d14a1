import { evmChain } from '@market/chains/evm/evm-chain'
import { usdc } from '@market/kernel/money'
import { balanceOf, fees, maintainLedgerPartitions, surplus, suspense, totals } from '@market/money/ledger'
import { claimTransfer, findPayment, parsePurpose, watchTreasury } from '@market/money/payments'
import { giveBack, keepDeposit } from '@market/money/payouts'
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

const NETWORK = 'base-mainnet'
const chain = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(chain)
afterAll(() => chain.stop())

const openTreasury = async () => {
  const treasury = newAccount().address
  const database = await testDatabase()
  const chains = { [NETWORK]: evmChain(settingsFor(chain, treasury)) }
  const ctx = { ...marketContext({ db: database.db }), chains }
  await maintainLedgerPartitions(ctx)
  return {
    ctx,
    /** Money that nobody asked for, confirmed. */
    receive: async (amount: bigint) => {
      const reference = await chain.transfer(payer, treasury, amount)
      await chain.mine(CONFIRMATIONS)
      await watchTreasury(ctx, NETWORK)
      return reference
    },
    /** The watch comes by again, and knows that nothing can be undone any more. */
    finalize: async () => {
      await chain.mine(FINALITY)
      await ctx.db.updateTable('transfers').set({ state: 'final' }).where('state', '=', 'seen').execute()
    },
    giveBack: (reference: string, from: 'suspense' | 'surplus', payee?: string) =>
      ctx.transact((tx) =>
        giveBack(ctx, tx, { network: NETWORK, reference, from, ...(payee !== undefined && { payee }) }),
      ),
    keep: (reference: string) => ctx.transact((tx) => keepDeposit(ctx, tx, { network: NETWORK, reference })),
    stop: database.stop,
  }
}

let app: Awaited<ReturnType<typeof openTreasury>>
beforeEach(async () => {
  app = await openTreasury()
  return () => app.stop()
})

test('what nobody claimed goes back whole to whoever paid it, once it is final and once only', async () => {
  const reference = await app.receive(7_000_000n)
  await expect(app.giveBack(reference, 'suspense')).rejects.toThrow('Try again when it is final')
  await app.finalize()
  const payout = await app.giveBack(reference, 'suspense')
  expect(payout).toMatchObject({
    kind: 'surplus',
    state: 'queued',
    amount: 7_000_000n,
    payee: payer.address.toLowerCase(),
  })
  expect(await app.giveBack(reference, 'suspense')).toEqual(payout)
  expect(await balanceOf(app.ctx.db, suspense(NETWORK, reference))).toBe(0n)
  expect((await totals(app.ctx.db, NETWORK)).liabilities.payable).toBe(7_000_000n)
})

test('what was paid beyond what was due goes back, and the rest stays', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  const seen = await findPayment(app.ctx, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer is there')
  const claim = { network: NETWORK, seen, purpose: parsePurpose('order:1'), due: usdc(5_000_000n) } as const
  await app.ctx.transact((tx) => claimTransfer(app.ctx, tx, claim))
  await expect(app.giveBack(reference, 'suspense')).rejects.toThrow('Nothing of this transfer is in suspense')
  expect(await app.giveBack(reference, 'surplus')).toMatchObject({ amount: 2_000_000n })
  expect(await balanceOf(app.ctx.db, surplus(NETWORK, reference))).toBe(0n)
  expect((await totals(app.ctx.db, NETWORK)).liabilities.escrow).toBe(5_000_000n)
})

test('what was given back is claimed by nobody, not even by halves when the rejected goes on', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  await app.giveBack(reference, 'suspense')
  const seen = await findPayment(app.ctx, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer is there')
  const claim = { network: NETWORK, seen, purpose: parsePurpose('order:1'), due: usdc(5_000_000n) } as const
  const rejected = await app.ctx.transact((tx) =>
    claimTransfer(app.ctx, tx, claim).catch((error: unknown) => error),
  )
  expect(rejected).toMatchObject({ kind: 'conflict', extra: { code: 'transfer_used' } })
  const rows = await app.ctx.db.selectFrom('transfers').select(['reference', 'purpose']).execute()
  expect(rows).toEqual([{ reference, purpose: '' }])
})

test('where the chain does not tell who paid, the address must be said; where it does, it cannot be another', async () => {
  const reference = await app.receive(7_000_000n)
  await app.finalize()
  const elsewhere = newAccount().address
  await expect(app.giveBack(reference, 'suspense', elsewhere)).rejects.toThrow('goes back there')
  await app.ctx.db.updateTable('transfers').set({ payer: null }).execute()
  await expect(app.giveBack(reference, 'suspense')).rejects.toThrow('say to which address')
  expect(await app.giveBack(reference, 'suspense', elsewhere)).toMatchObject({ payee: elsewhere })
})

test('what is not known, or was taken back by the chain, is not given back', async () => {
  const nothing = `0x${'0'.repeat(64)}`
  await expect(app.giveBack(nothing, 'suspense')).rejects.toMatchObject({ kind: 'not_found' })
  const reference = await app.receive(7_000_000n)
  await app.ctx.db.updateTable('transfers').set({ state: 'gone' }).execute()
  await expect(app.giveBack(reference, 'suspense')).rejects.toThrow('took this transfer back')
})

test('what the platform put in itself becomes its own, once', async () => {
  const reference = await app.receive(7_000_000n)
  await expect(app.keep(reference)).rejects.toThrow('Try again when it is final')
  await app.finalize()
  await app.keep(reference)
  await expect(app.keep(reference)).rejects.toThrow('Nothing of this transfer is in suspense')
  await expect(app.giveBack(reference, 'suspense')).rejects.toThrow('Nothing of this transfer is in suspense')
  expect(await balanceOf(app.ctx.db, fees(NETWORK))).toBe(7_000_000n)
})
