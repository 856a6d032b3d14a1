import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import { systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import {
  balanceOf,
  escrow,
  maintainLedgerPartitions,
  payable,
  post,
  totals,
  world,
} from '@market/money/ledger'
import { advancePayout, compareOutgoingTransfers, requestPayout } from '@market/money/payouts'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { orderPayoutListener } from '@market/trade/orders'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { until } from '../support/until.ts'

const NETWORK = 'solana-mainnet'
const FLOAT = usdc(1_000_000_000n)
const AMOUNT = usdc(2_000_001n)
const CAPS = { perPayout: FLOAT, perDay: FLOAT, cost: {} }

let solana: SolanaWorld
beforeAll(async () => {
  solana = await startSolanaWorld()
  await solana.usdc.fund(solana.treasury.address, FLOAT)
})
afterAll(() => solana.stop())

const openGate = (ctx: Parameters<typeof compareOutgoingTransfers>[0]) =>
  until(
    'the gate is open',
    async () => {
      await compareOutgoingTransfers(ctx, NETWORK)
      const gates = await ctx.db.selectFrom('payout_guards').select('compared_at').execute()
      return gates.some(({ compared_at }) => compared_at !== null)
    },
    { withinMs: 30_000 },
  )

const startBooks = async () => {
  const database = await testDatabase()
  const ctx = marketContext({
    db: database.db,
    clock: { ...systemClock, advance: () => {}, set: () => {} },
  })
  await maintainLedgerPartitions(ctx)
  const moves = [{ from: world(NETWORK), to: escrow(NETWORK, 'float'), amount: FLOAT }]
  const journal = { key: 'float', reason: 'float', subject: 'float', network: NETWORK, moves } as const
  await ctx.transact((tx) => post(ctx, tx, journal))
  const payee = (await generateKeyPairSigner()).address
  const wanted = {
    network: NETWORK,
    kind: 'refund',
    subject: `order-${payee}`,
    payee,
    amount: AMOUNT,
  } as const
  const { id } = await ctx.transact((tx) =>
    requestPayout(ctx, tx, { ...wanted, from: escrow(NETWORK, 'float') }),
  )
  const sender = solanaPayoutSender(solana.settings, solana.signer)
  const { db } = ctx
  const chains = { [NETWORK]: solanaChain(solana.settings) }
  await openGate({ ...ctx, chains })
  return {
    db,
    id,
    payee,
    app: { ...ctx, payoutSenders: { [NETWORK]: sender }, payoutListener: orderPayoutListener, caps: CAPS },
    /** The same sender, but for the bytes, which get lost on the way. */
    lossy: {
      ...ctx,
      payoutSenders: { [NETWORK]: { ...sender, send: async () => {} } },
      payoutListener: orderPayoutListener,
      caps: CAPS,
    },
    row: () => db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    signatures: () => db.selectFrom('payout_signatures').selectAll().orderBy('n').execute(),
    stop: database.stop,
  }
}

const TEN = Array.from({ length: 10 })

test('a signature is replaced by one other only when it can no longer take effect, by however many workers', async () => {
  const books = await startBooks()
  try {
    await Promise.all(TEN.map(() => advancePayout(books.lossy, books.id)))
    const [first, ...others] = await books.signatures()
    expect(others).toEqual([])
    const isReplaced = async () => {
      await Promise.all(TEN.map(() => advancePayout(books.lossy, books.id)))
      return (await books.signatures()).length > 1
    }
    await until('the first signature is dead', isReplaced, { withinMs: 30_000, everyMs: 100 })
    const height = await solana.rpc.getBlockHeight({ commitment: 'finalized' }).send()
    expect(height).toBeGreaterThan(first?.last_valid_height ?? 0n)
    expect((await books.signatures()).map(({ is_dead }) => is_dead)).toEqual([true, false])

    const isFinal = async () => {
      await Promise.all(TEN.map(() => advancePayout(books.app, books.id)))
      return (await books.row()).state === 'final'
    }
    await until('the payout is final', isFinal, { withinMs: 30_000, everyMs: 100 })
    expect(await books.signatures()).toHaveLength(2)
    expect(await solana.usdc.balanceOf(books.payee)).toBe(AMOUNT)
    expect(await balanceOf(books.db, payable(NETWORK, books.id))).toBe(0n)
    const { treasuryView, imbalance } = await totals(books.db, NETWORK)
    expect({ treasuryView, imbalance }).toEqual({ treasuryView: FLOAT - AMOUNT, imbalance: 0n })
  } finally {
    await books.stop()
  }
})

test('a worker that looked before another signed anew declares nothing dead', async () => {
  const books = await startBooks()
  try {
    await advancePayout(books.lossy, books.id)
    // It believes that all it saw is over; by the time it writes, another has signed.
    const sender = books.lossy.payoutSenders[NETWORK]
    const late = {
      ...sender,
      observe: async () => ({ kind: 'expired' as const }),
      sign: async (...said: Parameters<typeof sender.sign>) => {
        const signed = await sender.sign(...said)
        await advancePayout(quick, books.id)
        return signed
      },
    }
    const quick = { ...books.lossy, payoutSenders: { [NETWORK]: { ...sender, observe: late.observe } } }
    await advancePayout({ ...books.lossy, payoutSenders: { [NETWORK]: late } }, books.id)
    const live = (await books.signatures()).map(({ n, is_dead }) => ({ n, is_dead }))
    expect(live).toEqual([
      { n: 1, is_dead: true },
      { n: 2, is_dead: false },
    ])
  } finally {
    await books.stop()
  }
})

test('a payout that costs more than the cap for fees and rent waits', async () => {
  const books = await startBooks()
  try {
    const dear = { ...books.app, caps: { ...CAPS, cost: { [NETWORK]: 100_000n } } }
    await advancePayout(dear, books.id)
    expect(await books.row()).toMatchObject({
      state: 'held',
      hold_code: 'fee_above_cap',
      hold_detail: '2044360, the cap is 100000',
    })
    await advancePayout(books.app, books.id)
    expect(await books.row()).toMatchObject({ state: 'signed', reason: null, nonce: null })
  } finally {
    await books.stop()
  }
})
