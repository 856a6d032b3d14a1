import { randomUUID } from 'node:crypto'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Db } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { escrow, maintainLedgerPartitions, post, world } from '@market/money/ledger'
import { advancePayout, type PayoutId, payoutAuthorizer, requestPayout } from '@market/money/payouts'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { address, generateKeyPairSigner } from '@solana/kit'
import { getFreezeAccountInstruction } from '@solana-program/token'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startSolanaWorld } from '../chains/solana-support.ts'
import { backUp } from '../support/backup.ts'
import { follow } from '../support/follow.ts'
import { counterDrift } from '../support/payout-counters.ts'
import { ACCEPTING_KINDS } from '../support/payout-kinds.ts'
import { NO_FEE_ADDRESSES } from '../support/payout-ledger.ts'
import { until } from '../support/until.ts'

/** Payouts that are ready at the same time share a transaction, which pays all of them or none. */

const NETWORK = 'solana-mainnet'
const FLOAT = usdc(1_000_000_000n)
const AMOUNT = usdc(2_000_000n)
const CAPS = {
  ...{ gasBudget: {}, accountMinimum: AMOUNT, cost: {} },
  ...{ perPayout: FLOAT, perPayee: usdc(3_000_000n), perDay: FLOAT },
}
const LONG = { withinMs: 120_000, everyMs: 50 }

const solana = await startSolanaWorld()
const real = solanaPayoutSender(solana.settings, solana.signer)
afterAll(() => solana.stop())

function workerOn(db: Db, sender: PayoutSender = real) {
  const clock = { ...systemClock, advance: () => {}, set: () => {} }
  return {
    ...marketContext({ db, clock }),
    chains: { [NETWORK]: solanaChain(solana.settings) },
    ...{ payoutSenders: { [NETWORK]: sender }, payoutKinds: ACCEPTING_KINDS },
    ...{ caps: CAPS, feeAddresses: NO_FEE_ADDRESSES, screenings: [] },
  }
}

type Worker = ReturnType<typeof workerOn>

const openGuard = (ctx: Worker) =>
  until(
    'payouts are open',
    async () => {
      await follow(ctx, NETWORK)
      const guards = ctx.db.selectFrom('payout_guards').select(['compared_at', 'database_epoch'])
      const [guard] = await guards.where('network', '=', NETWORK).execute()
      return guard !== undefined && guard.compared_at !== null
    },
    LONG,
  )

let ctx: Worker
let url: string
beforeEach(async () => {
  await solana.usdc.fund(solana.treasury.address, FLOAT)
  const database = await testDatabase()
  ctx = workerOn(database.db)
  url = database.url
  await maintainLedgerPartitions(ctx)
  const moves = [{ from: world(NETWORK), to: escrow(NETWORK, 'float'), amount: FLOAT }]
  const journal = { key: 'float', reason: 'float', subject: 'float', network: NETWORK, moves } as const
  await ctx.transact((tx) => post(ctx, tx, journal))
  await openGuard(ctx)
  return () => database.stop()
})

/** A payee with a token account. */
async function newPayee(): Promise<string> {
  const payee = (await generateKeyPairSigner()).address
  await solana.usdc.fund(payee, 0n)
  return payee
}

async function request(payees: readonly string[]): Promise<readonly PayoutId[]> {
  const ids: PayoutId[] = []
  for (const [at, payee] of payees.entries()) {
    // The tests share a chain, and the id of a payout follows from its subject.
    const subject = `order-${randomUUID()}`
    const wanted = { network: NETWORK, kind: 'payout', subject, agentId: `agt_${at}` } as const
    const from = escrow(NETWORK, 'float')
    const { id } = await ctx.transact((tx) =>
      requestPayout(ctx, tx, { ...wanted, payee, amount: AMOUNT, from }),
    )
    ids.push(id)
  }
  return ids
}

/** One step of each, as the worker does it. */
const step = (
  worker: Worker,
  ids: readonly PayoutId[],
  authorize = payoutAuthorizer(worker, worker.payoutSenders[NETWORK]),
) => Promise.all(ids.map((id) => advancePayout(worker, id, authorize)))

/** Their first step, in this order: the first is authorized while the others become ready, which share a transaction. */
function stepTogether(worker: Worker, ids: readonly PayoutId[]) {
  const authorize = payoutAuthorizer(worker, worker.payoutSenders[NETWORK])
  const ready = new Map<PayoutId, () => void>()
  return step(
    worker,
    ids,
    (one) =>
      new Promise((resolve, reject) => {
        ready.set(one.payout.id, () => void authorize(one).then(resolve, reject))
        if (ready.size === ids.length) for (const id of ids) ready.get(id)?.()
      }),
  )
}

const stateOf = async (db: Db, id: PayoutId) => {
  const query = db.selectFrom('payouts').select(['state', 'hold_code']).where('id', '=', id)
  const { state, hold_code } = await query.executeTakeFirstOrThrow()
  return state === 'held' ? `held: ${hold_code}` : state
}
const statesOf = (db: Db, ids: readonly PayoutId[]) => Promise.all(ids.map((id) => stateOf(db, id)))

const untilStates = (worker: Worker, ids: readonly PayoutId[], states: readonly string[]) =>
  until(
    `the payouts are ${states.join()}`,
    async () => {
      await follow(worker, NETWORK)
      await step(worker, ids)
      return String(await statesOf(worker.db, ids)) === String(states)
    },
    LONG,
  )

const signaturesOf = (id: PayoutId) =>
  ctx.db.selectFrom('payout_signatures').selectAll().where('payout_id', '=', id).orderBy('n').execute()

const balancesOf = (payees: readonly string[]) =>
  Promise.all(payees.map((payee) => solana.usdc.balanceOf(payee)))

test('payouts that are ready together: one transaction pays them, and one that a cap holds is not in it', async () => {
  const payees = [await newPayee(), await newPayee(), await newPayee(), await newPayee()]
  const ids = await request([...payees, payees[3] ?? ''])
  const sent: string[] = []
  const sender: PayoutSender = {
    ...real,
    send: async (signed) => {
      sent.push(signed.reference)
      await real.send(signed)
    },
  }
  const worker = { ...ctx, payoutSenders: { [NETWORK]: sender } }
  await stepTogether(worker, ids)
  const states = await statesOf(ctx.db, ids)
  expect(states.toSorted()).toEqual(['held: payee_cap', 'signed', 'signed', 'signed', 'signed'])
  expect(sent).toHaveLength(2)
  const signed = await ctx.db.selectFrom('payout_signatures').selectAll().orderBy('transfer_index').execute()
  const ofGroup = signed.filter(({ payout_id }) => payout_id !== ids[0])
  expect(ofGroup.map(({ reference, transfer_index }) => [reference, transfer_index])).toEqual(
    [0, 1, 2].map((index) => [
      sent.find((one) => one !== signed.find((row) => row.payout_id === ids[0])?.reference),
      index,
    ]),
  )
  const paid = ids.filter((_, at) => states[at] === 'signed')
  await untilStates(
    worker,
    paid,
    paid.map(() => 'final'),
  )
  expect(await balancesOf(payees)).toEqual(payees.map(() => AMOUNT))
  const shown = await ctx.db
    .selectFrom('outgoing_transfers')
    .selectAll()
    .where('is_final', '=', true)
    .execute()
  expect(shown.map(({ mark }) => mark).toSorted()).toEqual([...paid].toSorted())
  const costs = await ctx.db
    .selectFrom('payout_costs')
    .select('native')
    .where('payout_id', '<>', ids[0] ?? '')
    .execute()
  expect(costs.map(({ native }) => BigInt(native))).toEqual([1, 2, 3].map(() => real.groups.share(3)))
  expect(await counterDrift(ctx.db)).toEqual([])
})

test('a payee whose account is frozen after the check: the transaction fails, and the others are paid by themselves', async () => {
  const payees = [await newPayee(), await newPayee(), await newPayee(), await newPayee()]
  const frozen = payees[2] ?? ''
  const ids = await request(payees)
  const groups: PayoutSender['groups'] = {
    ...real.groups,
    sign: async (payouts) => {
      const freeze = {
        account: address(await solana.usdc.accountOf(frozen)),
        mint: address(solana.usdc.mint),
      }
      await solana.run(solana.issuer, [getFreezeAccountInstruction({ ...freeze, owner: solana.issuer })])
      return real.groups.sign(payouts)
    },
  }
  await stepTogether({ ...ctx, payoutSenders: { [NETWORK]: { ...real, groups } } }, ids)
  expect(await statesOf(ctx.db, ids)).toEqual(ids.map(() => 'signed'))
  await untilStates(ctx, ids, ['final', 'final', 'failed', 'final'])
  expect(await balancesOf(payees)).toEqual([AMOUNT, AMOUNT, 0n, AMOUNT])
  const [shared, alone] = await signaturesOf(ids[1] as PayoutId)
  expect([shared?.is_dead, alone?.is_dead, alone?.transfer_index]).toEqual([true, false, 0])
  expect((await signaturesOf(ids[3] as PayoutId))[1]?.reference).not.toBe(alone?.reference)
  expect(await counterDrift(ctx.db)).toEqual([])
})

test('a database that lost a transaction of several payouts: each is found by its memo, and none is paid again', async () => {
  const payees = [await newPayee(), await newPayee(), await newPayee()]
  const ids = await request(payees)
  const final = ids.map(() => 'final')
  const restore = await backUp(url)
  await stepTogether(ctx, ids)
  await untilStates(ctx, ids, final)
  const restored = await restore()
  try {
    const worker = workerOn(restored.db)
    await restored.db.updateTable('payout_guards').set({ database_epoch: 'an earlier one' }).execute()
    await openGuard(worker)
    await untilStates(worker, ids, final)
    const found = await restored.db.selectFrom('payout_signatures').select(['reference', 'bytes']).execute()
    expect(new Set(found.map(({ reference }) => reference)).size).toBe(2)
    expect(found.map(({ bytes }) => bytes)).toEqual(['', '', ''])
    expect(await counterDrift(restored.db)).toEqual([])
  } finally {
    await restored.stop()
  }
  expect(await balancesOf(payees)).toEqual([AMOUNT, AMOUNT, AMOUNT])
})
