import { evmChain } from '@market/chains/evm/evm-chain'
import { DAY, MINUTE, SECOND } from '@market/kernel/clock'
import { writeOffTransfer } from '@market/money/payouts'
import { checkReserves, deleteOldSnapshots, getSolvency } from '@market/reserves/snapshots'
import { testClock } from '@market/testing/clock'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { authorizedBy, CONFIRMATIONS, FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
const other = await fundedPayer(network)
afterAll(() => network.stop())

let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  treasury = await openTreasury(database.db, network)
  return database.stop
})

const keyOf = (account: { readonly address: string }) => account.address.toLowerCase()
const paidFor = (purpose: string, due: bigint) => treasury.payIn(payer, due, { purpose, due })

/** Moves money out of the treasury for good, without a payout. */
async function stolen(amount: bigint): Promise<string> {
  const reference = await network.transfer(treasury.account, other.address, amount)
  await network.mine(FINALITY)
  await treasury.watch()
  return reference
}

describe('liabilities', () => {
  test('every account with money of users is a leaf with its holder; fees are not included', async () => {
    const paid = await treasury.payIn(payer, 1_050n, { purpose: 'order:a', due: 1_000n })
    const strange = await treasury.payIn(other, 77n)
    await treasury.earn('order:a', 100n)
    const payee = newAccount()
    const payout = await treasury.requestPayout('order:a', 300n, payee.address)
    const snapshot = await treasury.takeSnapshot(true)
    expect(await treasury.leavesOf(snapshot.id)).toEqual([
      { account_id: `escrow:${NETWORK}:order:a`, holder: keyOf(payer), amount_micros: 600n },
      { account_id: `payable:${NETWORK}:${payout.id}`, holder: keyOf(payee), amount_micros: 300n },
      { account_id: `surplus:${NETWORK}:${paid}`, holder: keyOf(payer), amount_micros: 50n },
      { account_id: `suspense:${NETWORK}:${strange}`, holder: keyOf(other), amount_micros: 77n },
    ])
    expect(snapshot).toMatchObject({
      treasury: treasury.account.address,
      latest: 1_127n,
      balances: {
        ledger: 1_127n,
        inFlight: 0n,
        escrow: 600n,
        payable: 300n,
        surplus: 50n,
        suspense: 77n,
        fees: 100n,
      },
      short: 0n,
      proof: { leaves: 4, root: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  test('each transfer of a transaction belongs to its own payer', async () => {
    const calls = [
      await authorizedBy(network, payer, treasury.account.address, 30n),
      await authorizedBy(network, other, treasury.account.address, 12n),
    ]
    const reference = await network.callMany(network.usdc, calls)
    await network.mine(CONFIRMATIONS)
    await treasury.watch()
    const unclaimed = await treasury.takeSnapshot(true)
    const ofOther = {
      account_id: `suspense:${NETWORK}:${reference}.1`,
      holder: keyOf(other),
      amount_micros: 12n,
    }
    expect(await treasury.leavesOf(unclaimed.id)).toMatchObject([
      { account_id: `suspense:${NETWORK}:${reference}`, holder: keyOf(payer), amount_micros: 30n },
      ofOther,
    ])
    await treasury.claim(reference, 'order:a', 30n, [keyOf(payer)])
    const claimed = await treasury.takeSnapshot(true)
    expect(await treasury.leavesOf(claimed.id)).toMatchObject([
      { account_id: `escrow:${NETWORK}:order:a`, holder: keyOf(payer), amount_micros: 30n },
      ofOther,
    ])
  })

  test('an empty list of liabilities is proven too', async () => {
    expect(await treasury.takeSnapshot(true)).toMatchObject({ short: 0n, proof: { leaves: 0 } })
  })
})

describe('shortage', () => {
  test('the next snapshot reports missing money and pauses payouts until it is back', async () => {
    await paidFor('order:a', 1_000n)
    expect((await treasury.takeSnapshot()).short).toBe(0n)
    expect(await treasury.payoutGuard()).toEqual({ short_micros: 0n, short_since: null })

    const { ctx } = treasury
    const reference = await stolen(400n)
    expect(await treasury.takeSnapshot()).toMatchObject({
      ...{ short: 400n, final: 600n, latest: 600n },
      balances: { ledger: 1_000n },
    })
    expect(await treasury.payoutGuard()).toEqual({ short_micros: 400n, short_since: expect.any(Date) })

    await treasury.earn('order:a', 400n)
    await ctx.transact((tx) => writeOffTransfer(ctx, tx, { network: NETWORK, reference, index: 0 }))
    expect((await treasury.takeSnapshot()).short).toBe(0n)
    expect(await treasury.payoutGuard()).toEqual({ short_micros: 0n, short_since: null })
  })

  test('payouts in flight, sent payouts and payments not yet posted are no shortage', async () => {
    await paidFor('order:a', 1_000n)
    const payout = await treasury.requestPayout('order:a', 300n, newAccount().address)
    expect(await treasury.takeSnapshot()).toMatchObject({
      short: 0n,
      balances: { inFlight: 0n, payable: 300n },
    })
    await treasury.advance(payout)
    expect(await treasury.takeSnapshot()).toMatchObject({
      short: 0n,
      latest: 700n,
      balances: { inFlight: 300n },
    })
    await network.mine(FINALITY)
    await treasury.watch()
    await treasury.advance(payout)
    expect(await treasury.takeSnapshot()).toMatchObject({
      short: 0n,
      balances: { inFlight: 0n, ledger: 700n },
    })
    await network.transfer(payer, treasury.account.address, 50n)
    expect(await treasury.takeSnapshot()).toMatchObject({
      ...{ short: 0n, final: 700n, latest: 750n },
      balances: { ledger: 750n, unfinal: 50n },
    })
  })

  test('an imbalance of the ledger is a shortage', async () => {
    await paidFor('order:a', 1_000n)
    const { db } = treasury.ctx
    // Only the owner of the tables can do this.
    await sql`alter table ledger_accounts disable trigger user`.execute(db)
    await sql`update ledger_accounts set balance_micros = 990 where kind = 'escrow'`.execute(db)
    expect((await treasury.takeSnapshot(true)).short).toBe(10n)
    expect(await treasury.payoutGuard()).toMatchObject({ short_micros: 10n })
    expect(await checkReserves(treasury.ctx)).toMatchObject([{ shortMicros: 10n, imbalance: 10n }])
  })
})

describe('several workers', () => {
  const rootsInOrder = async () => {
    const snapshots = treasury.ctx.db.selectFrom('reserve_snapshots').select('root').orderBy('taken_at')
    return (await snapshots.execute()).map(({ root }) => root !== null)
  }

  test('take one snapshot per 30 s and one proof per 10 minutes', async () => {
    await paidFor('order:a', 1_000n)
    const sweep = () => Promise.all(Array.from({ length: 6 }, () => checkReserves(treasury.ctx)))
    const first = (await sweep()).flat()
    expect(first.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(first.filter(({ shortMicros, error }) => shortMicros > 0n || error !== undefined)).toEqual([])
    treasury.clock.advance(25 * SECOND - 1)
    await sweep()
    expect(await rootsInOrder()).toEqual([true])
    treasury.clock.advance(1)
    await sweep()
    expect(await rootsInOrder()).toEqual([true, false])
    treasury.clock.advance(10 * MINUTE)
    await follow(treasury.ctx, NETWORK)
    await sweep()
    expect(await rootsInOrder()).toEqual([true, false, true])
  })

  test('a network that was not read yet is reported, and the others as usual', async () => {
    await paidFor('order:a', 1_000n)
    await checkReserves(treasury.ctx)
    treasury.clock.advance(MINUTE)
    const alt = evmChain({ ...treasury.settings, network: 'alt-mainnet', rpcUrls: [network.url] })
    const reports = await checkReserves({
      ...treasury.ctx,
      chains: { ...treasury.ctx.chains, 'alt-mainnet': alt },
    })
    expect(reports).toMatchObject([
      { network: NETWORK, isNew: true, takenAt: treasury.clock.now(), shortMicros: 0n },
      { network: 'alt-mainnet', isNew: false, takenAt: undefined, error: { kind: 'unavailable' } },
    ])
  })
})

test.each([
  ['a little', MINUTE],
  ['very', DAY],
])(
  'a snapshot by a clock that is %s ahead does not stop other workers, and a later one replaces it',
  async (_, ahead) => {
    await paidFor('order:a', 1_000n)
    const wrong = testClock(new Date(treasury.clock.now().getTime() + ahead))
    await follow({ ...treasury.ctx, clock: wrong }, NETWORK)
    expect(await checkReserves({ ...treasury.ctx, clock: wrong })).toMatchObject([{ isNew: true }])
    await stolen(400n)
    expect(await checkReserves(treasury.ctx)).toMatchObject([{ isNew: true }])
    expect(await treasury.payoutGuard()).toMatchObject({ short_micros: 400n })
    treasury.clock.advance(6 * MINUTE)
    await follow(treasury.ctx, NETWORK)
    const [report] = await checkReserves(treasury.ctx)
    expect(report).toMatchObject({ isNew: true, takenAt: treasury.clock.now(), shortMicros: 400n })
    expect(await getSolvency(treasury.ctx)).toMatchObject([{ newest: { takenAt: treasury.clock.now() } }])
  },
)

test('a proof that cannot be saved is reported and does not hide a shortage', async () => {
  await paidFor('order:a', 1_000n)
  await stolen(400n)
  await sql`alter table reserve_leaves add constraint full_disk check (false) not valid`.execute(
    treasury.ctx.db,
  )
  expect(await checkReserves(treasury.ctx)).toMatchObject([
    { isNew: true, shortMicros: 400n, error: { constraint: 'full_disk' } },
  ])
  expect(await treasury.payoutGuard()).toMatchObject({ short_micros: 400n })
})

describe('deleteOldSnapshots', () => {
  test("deletes the leaves of all but the three newest proofs and the day's, and snapshots without proof after a week", async () => {
    await paidFor('order:a', 1_000n)
    const { db } = treasury.ctx
    const withLeaves = async () =>
      (await db.selectFrom('reserve_leaves').select('snapshot_id').distinct().execute()).map(
        (row) => row.snapshot_id,
      )
    const snapshots = async () =>
      (await db.selectFrom('reserve_snapshots').select('id').orderBy('taken_at').execute()).map(
        ({ id }) => id,
      )
    // All on one UTC day.
    treasury.clock.advance(DAY - (treasury.clock.now().getTime() % DAY))
    const proven: string[] = []
    for (let n = 0; n < 5; n++) proven.push((await treasury.takeSnapshot(true)).id)
    const plain = await treasury.takeSnapshot()
    await deleteOldSnapshots(treasury.ctx)
    expect((await withLeaves()).toSorted()).toEqual(proven.toSpliced(1, 1).toSorted())
    treasury.clock.advance(7 * DAY + SECOND)
    await deleteOldSnapshots(treasury.ctx)
    // The newest stays whatever its age: it is what is known.
    expect(await snapshots()).toEqual([...proven, plain.id])
    const next = await treasury.takeSnapshot()
    await deleteOldSnapshots(treasury.ctx)
    expect(await snapshots()).toEqual([...proven, next.id])
  })
})
