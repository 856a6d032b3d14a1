import { AUTHORIZATION_USED_TOPIC, topicOf } from '@market/chains/evm/transfers'
import { DAY, HOUR, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { markOf } from '@market/kernel/payout-mark'
import { escrow } from '@market/money/ledger'
import { requestPayout } from '@market/money/payouts'
import { checkReserves, deleteOldSnapshots, proveLiabilities } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { makeAgent } from '@market/testing/makers'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { fundedPayer, newAccount } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
afterAll(() => network.stop())

let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  treasury = await openTreasury(database.db, network)
  return database.stop
})

const holder = payer.address.toLowerCase()
const paidFor = (purpose: string, due: bigint) => treasury.payIn(payer, due, { purpose, due })
const dayOf = (time: Date) => time.toISOString().slice(0, 10)
const untilTomorrow = () => DAY - (treasury.clock.now().getTime() % DAY)
const proofsIn = (snapshotId: string) =>
  proveLiabilities(treasury.ctx, { proven: [holder], payees: [] }, { limit: 20, snapshotId })

describe("the day's snapshot", () => {
  test('is the first with a proof of each UTC day', async () => {
    await paidFor('order:a', 1_000n)
    treasury.clock.advance(untilTomorrow())
    expect(await treasury.takeSnapshot()).toMatchObject({ day: null })
    const first = await treasury.takeSnapshot(true)
    expect(first.day).toBe(dayOf(first.takenAt))
    expect(await treasury.takeSnapshot(true)).toMatchObject({ day: null })
    treasury.clock.advance(untilTomorrow())
    const next = await treasury.takeSnapshot(true)
    expect(next.day).toBe(dayOf(next.takenAt))
    expect(next.day).not.toBe(first.day)
  })

  test('is taken once by several workers', async () => {
    await paidFor('order:a', 1_000n)
    treasury.clock.advance(untilTomorrow())
    await follow(treasury.ctx, NETWORK)
    await Promise.all(Array.from({ length: 6 }, () => checkReserves(treasury.ctx)))
    treasury.clock.advance(10 * MINUTE)
    await follow(treasury.ctx, NETWORK)
    await Promise.all(Array.from({ length: 6 }, () => checkReserves(treasury.ctx)))
    const { rows } = await sql<{ day: string | null }>`
      select day from reserve_snapshots where root is not null order by taken_at`.execute(treasury.ctx.db)
    expect(rows.map(({ day }) => day !== null)).toEqual([true, false])
  })

  test('can be proven for 90 days, other snapshots only while they are among the newest three', async () => {
    await paidFor('order:a', 1_000n)
    treasury.clock.advance(untilTomorrow())
    const days: string[] = []
    for (let n = 0; n < 4; n++) {
      days.push((await treasury.takeSnapshot(true)).id)
      treasury.clock.advance(DAY)
    }
    const other = await treasury.takeSnapshot(true).then(() => treasury.takeSnapshot(true))
    for (let n = 0; n < 3; n++) await treasury.takeSnapshot(true)
    await deleteOldSnapshots(treasury.ctx)
    for (const id of days) expect((await proofsIn(id)).proofs).toMatchObject([{ leaf: { micros: 1_000n } }])
    await expect(proofsIn(other.id)).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('GET /api/solvency/anchors'),
    })

    treasury.clock.advance(86 * DAY - HOUR)
    await deleteOldSnapshots(treasury.ctx)
    expect((await proofsIn(days[0] ?? '')).proofs).toHaveLength(1)
    treasury.clock.advance(2 * HOUR)
    await deleteOldSnapshots(treasury.ctx)
    await expect(proofsIn(days[0] ?? '')).rejects.toMatchObject({ kind: 'not_found' })
    expect((await proofsIn(days[1] ?? '')).proofs).toHaveLength(1)
  })

  test('without any liability is proven too', async () => {
    const { id } = await treasury.takeSnapshot(true)
    expect(await proofsIn(id)).toEqual({ proofs: [], omitted: 0 })
  })
})

test('liabilities: a payout without an address belongs to its agent', async () => {
  await paidFor('order:a', 1_000n)
  const { agent } = await makeAgent(treasury.ctx)
  const payout = await treasury.ctx.transact((tx) =>
    requestPayout(treasury.ctx, tx, {
      network: NETWORK,
      kind: 'payout',
      subject: 'order:a',
      payee: null,
      amount: usdc(900n),
      from: escrow(NETWORK, 'order:a'),
      agentId: agent.id,
    }),
  )
  const { id } = await treasury.takeSnapshot(true)
  expect(await treasury.leavesOf(id)).toEqual([
    { account_id: `escrow:${NETWORK}:order:a`, holder, amount_micros: 100n },
    { account_id: `payable:${NETWORK}:${payout.id}`, holder: agent.id, amount_micros: 900n },
  ])
})

describe('in flight', () => {
  test('every payout is listed by its mark with its amount, and they add up to the sum', async () => {
    await paidFor('order:a', 1_000n)
    await paidFor('order:b', 1_000n)
    const payouts = [
      await treasury.requestPayout('order:a', 300n, newAccount().address),
      await treasury.requestPayout('order:b', 500n, newAccount().address),
    ]
    expect(await treasury.takeSnapshot()).toMatchObject({ inFlight: { transactions: [], count: 0 } })
    for (const payout of payouts) await treasury.advance(payout)
    const [first, second] = payouts.map((payout) => markOf(NETWORK, payout))
    const { balances, inFlight } = await treasury.takeSnapshot()
    expect(inFlight).toMatchObject({
      count: 2,
      transactions: [
        { reference: second, amount: 500n, replaces: [] },
        { reference: first, amount: 300n, replaces: [] },
      ],
    })
    const transactions = inFlight?.transactions ?? []
    expect(transactions.reduce((sum, { amount }) => sum + amount, 0n)).toBe(balances.inFlight)
    for (const { reference } of transactions) {
      const topics = [AUTHORIZATION_USED_TOPIC, topicOf(treasury.account.address), reference]
      const filter = { address: network.usdc, fromBlock: '0x0', topics }
      expect(await network.rpc('eth_getLogs', [filter])).toHaveLength(1)
    }
  })
})
