import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import { systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { escrow, maintainLedgerPartitions, post, world } from '@market/money/ledger'
import { advancePayout, requestPayout } from '@market/money/payouts'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, expect, test } from 'vitest'
import { startSolanaWorld } from '../chains/solana-support.ts'
import { follow } from '../support/follow.ts'
import { ACCEPTING_KINDS } from '../support/payout-kinds.ts'
import { NO_FEE_ADDRESSES } from '../support/payout-ledger.ts'
import { until } from '../support/until.ts'

const NETWORK = 'solana-mainnet'
const FLOAT = usdc(1_000_000_000n)
const AMOUNT = usdc(2_000_001n)
const CAPS = {
  ...{ gasBudget: {}, accountMinimum: AMOUNT, cost: {} },
  ...{ perPayout: FLOAT, perPayee: FLOAT, perDay: FLOAT },
}
const LONG = { withinMs: 120_000 }

const solana = await startSolanaWorld()
await solana.usdc.fund(solana.treasury.address, FLOAT)
const database = await testDatabase()
afterAll(async () => {
  await database.stop()
  await solana.stop()
})

test('two workers sign a payout at once: only the transaction that is stored is sent', async () => {
  const clock = { ...systemClock, advance: () => {}, set: () => {} }
  const ctx = {
    ...marketContext({ db: database.db, clock }),
    chains: { [NETWORK]: solanaChain(solana.settings) },
  }
  await maintainLedgerPartitions(ctx)
  const moves = [{ from: world(NETWORK), to: escrow(NETWORK, 'float'), amount: FLOAT }]
  const journal = { key: 'float', reason: 'float', subject: 'float', network: NETWORK, moves } as const
  await ctx.transact((tx) => post(ctx, tx, journal))
  const guards = () => ctx.db.selectFrom('payout_guards').select('compared_at').execute()
  const isOpen = async () => {
    await follow(ctx, NETWORK)
    return (await guards()).some(({ compared_at: at }) => at !== null)
  }
  await until('payouts are open', isOpen, LONG)
  const payee = (await generateKeyPairSigner()).address
  const { id } = await ctx.transact((tx) =>
    requestPayout(ctx, tx, {
      ...{ network: NETWORK, kind: 'payout', subject: 'order', agentId: `agt_${payee}` },
      ...{ payee, amount: AMOUNT, from: escrow(NETWORK, 'float') },
    }),
  )
  const sent = new Set<string>()
  const real = solanaPayoutSender(solana.settings, solana.signer)
  const sender: PayoutSender = {
    ...real,
    send: async (signed) => {
      sent.add(signed.reference)
      await real.send?.(signed)
    },
  }
  const workerWith = (one: PayoutSender) => ({
    ...{ ...ctx, payoutSenders: { [NETWORK]: one }, payoutKinds: ACCEPTING_KINDS },
    ...{ caps: CAPS, feeAddresses: NO_FEE_ADDRESSES, screenings: [] },
  })
  const first = workerWith(sender)
  const second = workerWith({
    ...sender,
    sign: async (payout, attempt) => {
      const signed = await sender.sign(payout, attempt)
      const isOther = async () => (await sender.sign(payout, attempt)).reference !== signed.reference
      await until('a later blockhash makes another transaction', isOther, LONG)
      await advancePayout(first, id)
      return signed
    },
  })
  await advancePayout(second, id)
  const isFinal = async () => {
    await follow(ctx, NETWORK)
    await advancePayout(first, id)
    const row = await ctx.db.selectFrom('payouts').select('state').where('id', '=', id).executeTakeFirst()
    return row?.state === 'final'
  }
  await until('the payout is final', isFinal, LONG)
  const stored = await ctx.db.selectFrom('payout_signatures').select('reference').execute()
  expect([...sent]).toEqual(stored.map(({ reference }) => reference))
  expect(await solana.usdc.balanceOf(payee)).toBe(AMOUNT)
})
