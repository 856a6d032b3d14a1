import { EXPIRY_MARGIN } from '@market/chains/solana/observe-payout'
import { BLOCKHASH_LIFETIME } from '@market/chains/solana/read-lifetime'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import { turnSwitch } from '@market/core/switches'
import { ApiError } from '@market/kernel/api-error'
import { SECOND, systemClock } from '@market/kernel/clock'
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
import { advancePayout, requestPayout } from '@market/money/payouts'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { follow } from '../support/follow.ts'
import { ACCEPTING_KINDS } from '../support/payout-kinds.ts'
import { NO_FEE_ADDRESSES } from '../support/payout-ledger.ts'
import { until } from '../support/until.ts'

const NETWORK = 'solana-mainnet'
const FLOAT = usdc(1_000_000_000n)
const AMOUNT = usdc(2_000_001n)
const CAPS = {
  gasBudget: {},
  accountMinimum: AMOUNT,
  perPayout: FLOAT,
  perPayee: FLOAT,
  perDay: FLOAT,
  cost: {},
}

let solana: SolanaWorld
beforeAll(async () => {
  solana = await startSolanaWorld()
  await solana.usdc.fund(solana.treasury.address, FLOAT)
})
afterAll(() => solana.stop())

/** Under load the node may drop a connection. The worker asks again too. */
const rethrowUnlessUnavailable = (error: unknown): void => {
  if (!(error instanceof ApiError) || error.kind !== 'unavailable') throw error
}

const openGuard = (ctx: Parameters<typeof follow>[0]) =>
  until(
    'the payout guard is open',
    async () => {
      await follow(ctx, NETWORK).catch(rethrowUnlessUnavailable)
      const gates = await ctx.db.selectFrom('payout_guards').select('compared_at').execute()
      return gates.some(({ compared_at }) => compared_at !== null)
    },
    { withinMs: 120_000 },
  )

const startSolanaPayout = async () => {
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
  const names = { agentId: `agt_${payee}`, subject: `order-${payee}` } as const
  const wanted = { ...names, network: NETWORK, kind: 'payout', payee, amount: AMOUNT } as const
  const { id } = await ctx.transact((tx) =>
    requestPayout(ctx, tx, { ...wanted, from: escrow(NETWORK, 'float') }),
  )
  const sender = solanaPayoutSender(solana.settings, solana.signer)
  const { db } = ctx
  const chains = { [NETWORK]: solanaChain(solana.settings) }
  await openGuard({ ...ctx, chains })
  const lost = new Set<string>()
  const send: typeof sender.send = async ({ reference }) => void lost.add(reference)
  const app = {
    ...{ ...ctx, payoutSenders: { [NETWORK]: sender }, payoutKinds: ACCEPTING_KINDS },
    ...{ caps: CAPS, feeAddresses: NO_FEE_ADDRESSES, screenings: [] },
  }
  return {
    db,
    id,
    payee,
    app,
    /** The same sender, but for the bytes, which get lost on the way. */
    lossy: { ...app, payoutSenders: { [NETWORK]: { ...sender, send } } },
    lost,
    row: () => db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    signatures: () => db.selectFrom('payout_signatures').selectAll().orderBy('n').execute(),
    stop: database.stop,
  }
}

const TEN = Array.from({ length: 10 })

type SolanaPayout = Awaited<ReturnType<typeof startSolanaPayout>>

/** One step of a worker, which tries again when the node dropped the connection. */
async function step({ id }: SolanaPayout, app: SolanaPayout['app']): Promise<void> {
  for (;;) {
    try {
      await advancePayout(app, id)
      return
    } catch (error) {
      rethrowUnlessUnavailable(error)
    }
  }
}

/** What the chain says now about all signatures of the payout. */
async function outcomeOf({ app, signatures }: SolanaPayout): Promise<string> {
  const signed = (await signatures()).map((row) => ({ ...row, validTo: row.valid_to }))
  try {
    return (await app.payoutSenders[NETWORK].observe(signed)).kind
  } catch (error) {
    rethrowUnlessUnavailable(error)
    return 'not observed'
  }
}

/** Resolves for all callers when so many have called it. */
function meeting(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    arrived += 1
    if (arrived === count) resolve()
    return promise
  }
}

/** Ten workers whose signatures are all made before one is stored. */
function signingTogether(app: SolanaPayout['app']): SolanaPayout['app'] {
  const sender = app.payoutSenders[NETWORK]
  const allSigned = meeting(TEN.length)
  const sign: typeof sender.sign = async (...said) => {
    const signed = await sender.sign(...said)
    await allSigned()
    return signed
  }
  return { ...app, payoutSenders: { [NETWORK]: { ...sender, sign } } }
}

/**
 * The newest signature alone can take effect, and each was made when the one before it had expired for good. How many there
 * are depends on the machine: a blockhash is valid for 3 seconds of this chain, and for a minute of the real one.
 */
async function expectOneLive({ signatures, lost }: SolanaPayout): Promise<void> {
  const all = await signatures()
  expect(all.map(({ reference }) => reference)).toEqual(expect.arrayContaining([...lost]))
  expect(all.map(({ is_dead }) => is_dead)).toEqual(all.map((_, index) => index < all.length - 1))
  const lastHeights = all.map(({ valid_to }) => valid_to)
  for (const [index, last] of lastHeights.entries()) {
    const before = lastHeights[index - 1]
    if (before !== undefined) expect(last).toBeGreaterThan(before + EXPIRY_MARGIN + BLOCKHASH_LIFETIME)
  }
}

test('expired signature: of ten workers that sign at once, one stores its signature, and only it can pay', async () => {
  const setup = await startSolanaPayout()
  try {
    const first = signingTogether(setup.lossy)
    await Promise.all(TEN.map(() => step(setup, first)))
    await expectOneLive(setup)
    await until('the signature has expired', async () => (await outcomeOf(setup)) === 'expired', {
      everyMs: 100,
    })
    const { length } = await setup.signatures()
    const together = signingTogether(setup.lossy)
    await Promise.all(TEN.map(() => step(setup, together)))
    expect(await setup.signatures()).toHaveLength(length + 1)
    await expectOneLive(setup)

    // The workers below finish it together.
    const sender = setup.app.payoutSenders[NETWORK]
    const observe: typeof sender.observe = async (...said) => {
      const outcome = await sender.observe(...said)
      return outcome.kind === 'final' ? { ...outcome, kind: 'seen' } : outcome
    }
    const unfinished = { ...sender, observe }
    const isFinal = async () => {
      await step(setup, { ...setup.app, payoutSenders: { [NETWORK]: unfinished } })
      return (await outcomeOf(setup)) === 'final'
    }
    await until('the transfer is final', isFinal, { everyMs: 100 })
    await expectOneLive(setup)
    await Promise.all(TEN.map(() => step(setup, setup.app)))
    expect(await setup.row()).toMatchObject({
      state: 'final',
      final_reference: (await setup.signatures()).at(-1)?.reference,
    })
    expect(await solana.usdc.balanceOf(setup.payee)).toBe(AMOUNT)
    expect(await balanceOf(setup.db, payable(NETWORK, setup.id))).toBe(0n)
    const { treasuryView, imbalance } = await totals(setup.db, NETWORK)
    expect({ treasuryView, imbalance }).toEqual({ treasuryView: FLOAT - AMOUNT, imbalance: 0n })
  } finally {
    await setup.stop()
  }
})

test('expired signature: an observation from before the new signature does not mark it expired', async () => {
  const setup = await startSolanaPayout()
  try {
    await advancePayout(setup.lossy, setup.id)
    // It believes that all it saw is over; by the time it writes, another has signed.
    const sender = setup.lossy.payoutSenders[NETWORK]
    const late = {
      ...sender,
      observe: async () => ({ kind: 'expired' as const }),
      sign: async (...said: Parameters<typeof sender.sign>) => {
        const signed = await sender.sign(...said)
        await advancePayout(quick, setup.id)
        return signed
      },
    }
    const quick = { ...setup.lossy, payoutSenders: { [NETWORK]: { ...sender, observe: late.observe } } }
    await advancePayout({ ...setup.lossy, payoutSenders: { [NETWORK]: late } }, setup.id)
    const live = (await setup.signatures()).map(({ n, is_dead }) => ({ n, is_dead }))
    expect(live).toEqual([
      { n: 1, is_dead: true },
      { n: 2, is_dead: false },
    ])
  } finally {
    await setup.stop()
  }
})

test('failed signature: a failure observed before another worker signed again does not fail the payout', async () => {
  const setup = await startSolanaPayout()
  try {
    await advancePayout(setup.lossy, setup.id)
    const sender = setup.lossy.payoutSenders[NETWORK]
    const expired = { ...sender, observe: async () => ({ kind: 'expired' as const }) }
    const late: typeof sender = {
      ...sender,
      observe: async ([first]) => {
        await advancePayout({ ...setup.lossy, payoutSenders: { [NETWORK]: expired } }, setup.id)
        return { kind: 'failed', reference: first?.reference ?? '', reason: 'the transfer failed' }
      },
    }
    expect(await advancePayout({ ...setup.lossy, payoutSenders: { [NETWORK]: late } }, setup.id)).toBe(SECOND)
    expect(await setup.row()).toMatchObject({ state: 'signed', reason: null })
    expect(await setup.signatures()).toHaveLength(2)
  } finally {
    await setup.stop()
  }
})

test('expired signature: it is not signed again while payouts are frozen, and is afterwards', async () => {
  const setup = await startSolanaPayout()
  try {
    await advancePayout(setup.lossy, setup.id)
    const sender = setup.lossy.payoutSenders[NETWORK]
    const expired = { ...sender, observe: async () => ({ kind: 'expired' as const }) }
    const app = { ...setup.lossy, payoutSenders: { [NETWORK]: expired } }
    for (const [name, hold_code] of [
      ['freeze_payouts', 'payouts_frozen'],
      ['freeze_payouts_solana', 'network_frozen'],
    ] as const) {
      await turnSwitch(setup.app, { name, on: true, reason: 'a test' })
      expect(await advancePayout(app, setup.id)).toBe(30_000)
      expect(await setup.row()).toMatchObject({ state: 'signed', hold_code })
      expect(await setup.signatures()).toHaveLength(1)
      await turnSwitch(setup.app, { name, on: false, reason: 'a test' })
    }
    await advancePayout(app, setup.id)
    expect(await setup.row()).toMatchObject({ state: 'signed', hold_code: null })
    expect(await setup.signatures()).toHaveLength(2)
  } finally {
    await setup.stop()
  }
})

test('fee cap: a payout whose fees and rent exceed it is held', async () => {
  const setup = await startSolanaPayout()
  try {
    const dear = { ...setup.app, caps: { ...CAPS, cost: { [NETWORK]: 100_000n } } }
    await advancePayout(dear, setup.id)
    expect(await setup.row()).toMatchObject({
      state: 'held',
      hold_code: 'fee_above_cap',
      hold_detail: '2044360, the cap is 100000',
    })
    await advancePayout(setup.app, setup.id)
    expect(await setup.row()).toMatchObject({ state: 'signed', reason: null })
  } finally {
    await setup.stop()
  }
})
