import { evmChain } from '@market/chains/evm/evm-chain'
import { DAY, MINUTE, SECOND } from '@market/kernel/clock'
import { deleteOldSnapshots, getSolvency, keepReserves } from '@market/money/reserves'
import { testClock } from '@market/testing/clock'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { authorizedBy, CONFIRMATIONS, FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { type NodeRelay, relayTo } from '../chains/node-relay.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
const other = await fundedPayer(network)
afterAll(() => network.stop())

let relay: NodeRelay
let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  relay = await relayTo(network.url)
  treasury = await openTreasury(database.db, network, relay.url)
  return async () => {
    await database.stop()
    await relay.stop()
  }
})

const keyOf = (account: { readonly address: string }) => account.address.toLowerCase()
const paidFor = (purpose: string, due: bigint) => treasury.payIn(payer, due, { purpose, due })

describe('what is owed', () => {
  test('is every account that holds money of others with its holder, and the fees are not among it', async () => {
    const paid = await treasury.payIn(payer, 1_050n, { purpose: 'order:a', due: 1_000n })
    const strange = await treasury.payIn(other, 77n)
    await treasury.earn('order:a', 100n)
    const payee = newAccount()
    const payout = await treasury.askFor('order:a', 300n, payee.address)
    const look = await treasury.look(true)
    expect(await treasury.leavesOf(look.id)).toEqual([
      { account_id: `escrow:${NETWORK}:order:a`, holder: keyOf(payer), amount_micros: 600n },
      { account_id: `payable:${NETWORK}:${payout.id}`, holder: keyOf(payee), amount_micros: 300n },
      { account_id: `surplus:${NETWORK}:${paid}`, holder: keyOf(payer), amount_micros: 50n },
      { account_id: `suspense:${NETWORK}:${strange}`, holder: keyOf(other), amount_micros: 77n },
    ])
    expect(look).toMatchObject({
      treasury: treasury.account.address,
      latest: 1_127n,
      books: {
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

  test('to others who paid in the same transaction is not counted as the claimer’s', async () => {
    const calls = [
      await authorizedBy(network, payer, treasury.account.address, 30n),
      await authorizedBy(network, other, treasury.account.address, 12n),
    ]
    const reference = await network.callMany(network.usdc, calls)
    await network.mine(CONFIRMATIONS)
    await treasury.watch()
    const unclaimed = await treasury.look(true)
    expect(await treasury.leavesOf(unclaimed.id)).toMatchObject([{ holder: null, amount_micros: 42n }])
    await treasury.claim(reference, 'order:a', 30n, [keyOf(payer)])
    const claimed = await treasury.look(true)
    expect(await treasury.leavesOf(claimed.id)).toMatchObject([
      { account_id: `escrow:${NETWORK}:order:a`, holder: keyOf(payer), amount_micros: 30n },
      { account_id: `suspense:${NETWORK}:${reference}`, holder: null, amount_micros: 12n },
    ])
  })

  test('may be nothing, and that is proven too', async () => {
    expect(await treasury.look(true)).toMatchObject({ short: 0n, proof: { leaves: 0 } })
  })
})

describe('a shortage', () => {
  test('is seen by the next look, closes the gate by what is missing, and is lifted when the money is back', async () => {
    await paidFor('order:a', 1_000n)
    expect((await treasury.look()).short).toBe(0n)
    expect(await treasury.gate()).toEqual({ short_micros: 0n, short_since: null })

    await network.transfer(treasury.account, other.address, 400n)
    expect(await treasury.look()).toMatchObject({ short: 400n, latest: 600n, books: { ledger: 1_000n } })
    expect(await treasury.gate()).toEqual({ short_micros: 400n, short_since: expect.any(Date) })

    await network.transfer(other, treasury.account.address, 150n)
    expect((await treasury.look()).short).toBe(250n)
    expect(await treasury.gate()).toMatchObject({ short_micros: 250n })

    await network.transfer(other, treasury.account.address, 250n)
    expect((await treasury.look()).short).toBe(0n)
    expect(await treasury.gate()).toEqual({ short_micros: 0n, short_since: null })
  })

  test('is not what is in flight, has left, or has come and is not booked yet', async () => {
    await paidFor('order:a', 1_000n)
    const payout = await treasury.askFor('order:a', 300n, newAccount().address)
    expect(await treasury.look()).toMatchObject({ short: 0n, books: { inFlight: 0n, payable: 300n } })
    await treasury.advance(payout)
    expect(await treasury.look()).toMatchObject({ short: 0n, latest: 700n, books: { inFlight: 300n } })
    await network.mine(FINALITY)
    await treasury.advance(payout)
    expect(await treasury.look()).toMatchObject({ short: 0n, books: { inFlight: 0n, ledger: 700n } })
    await network.transfer(payer, treasury.account.address, 50n)
    expect(await treasury.look()).toMatchObject({ short: 0n, latest: 750n, books: { ledger: 700n } })
  })

  test('is also when the books do not balance', async () => {
    await paidFor('order:a', 1_000n)
    const { db } = treasury.ctx
    // Only whoever owns the tables can do this.
    await sql`alter table ledger_accounts disable trigger user`.execute(db)
    await sql`update ledger_accounts set balance_micros = 990 where kind = 'escrow'`.execute(db)
    expect((await treasury.look(true)).short).toBe(10n)
    expect(await treasury.gate()).toMatchObject({ short_micros: 10n })
    expect(await keepReserves(treasury.ctx)).toMatchObject([{ shortMicros: 10n, imbalance: 10n }])
  })

  test('is asked for again before it is believed, for a node may be a little behind', async () => {
    await paidFor('order:a', 1_000n)
    let asked = 0
    relay.mood = {
      kind: 'change',
      // As if the newest blocks had not come by yet when it is first asked.
      result: ({ method, params }, result) =>
        method === 'eth_call' && params[1] === 'latest' && asked++ === 0 ? `0x${'0'.repeat(64)}` : result,
    }
    expect(await treasury.look()).toMatchObject({ short: 0n, latest: 1_000n })
    expect(asked).toBe(2)
  })
})

describe('many workers', () => {
  const rootsInOrder = async () => {
    const snapshots = treasury.ctx.db.selectFrom('reserve_snapshots').select('root').orderBy('taken_at')
    return (await snapshots.execute()).map(({ root }) => root !== null)
  }

  test('make one look in half a minute, and one proof in ten', async () => {
    await paidFor('order:a', 1_000n)
    const sweep = () => Promise.all(Array.from({ length: 6 }, () => keepReserves(treasury.ctx)))
    const first = (await sweep()).flat()
    expect(first.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(first.filter(({ shortMicros, trouble }) => shortMicros > 0n || trouble !== undefined)).toEqual([])
    treasury.clock.advance(25 * SECOND - 1)
    await sweep()
    expect(await rootsInOrder()).toEqual([true])
    treasury.clock.advance(1)
    await sweep()
    expect(await rootsInOrder()).toEqual([true, false])
    treasury.clock.advance(10 * MINUTE)
    await sweep()
    expect(await rootsInOrder()).toEqual([true, false, true])
  })

  test('are told of a chain that is away by what was last known of it, and of the others as ever', async () => {
    await paidFor('order:a', 1_000n)
    const [known] = await keepReserves(treasury.ctx)
    treasury.clock.advance(MINUTE)
    relay.mood = { kind: 'answer', status: 503, body: '' }
    const alt = evmChain({ ...treasury.settings, network: 'alt-mainnet', rpcUrls: [network.url] })
    const reports = await keepReserves({
      ...treasury.ctx,
      chains: { ...treasury.ctx.chains, 'alt-mainnet': alt },
    })
    expect(reports).toMatchObject([
      {
        network: NETWORK,
        isNew: false,
        takenAt: known?.takenAt,
        shortMicros: 0n,
        trouble: { kind: 'unavailable' },
      },
      { network: 'alt-mainnet', isNew: true, takenAt: treasury.clock.now(), shortMicros: 0n },
    ])
  })
})

test.each([
  ['a little', MINUTE],
  ['very', DAY],
])(
  'a look of a clock that is %s ahead keeps nobody from looking, and is soon not the newest',
  async (_, ahead) => {
    await paidFor('order:a', 1_000n)
    const wrong = testClock(new Date(treasury.clock.now().getTime() + ahead))
    expect(await keepReserves({ ...treasury.ctx, clock: wrong })).toMatchObject([{ isNew: true }])
    await network.transfer(treasury.account, other.address, 400n)
    expect(await keepReserves(treasury.ctx)).toMatchObject([{ isNew: true }])
    expect(await treasury.gate()).toMatchObject({ short_micros: 400n })
    treasury.clock.advance(6 * MINUTE)
    const [report] = await keepReserves(treasury.ctx)
    expect(report).toMatchObject({ isNew: true, takenAt: treasury.clock.now(), shortMicros: 400n })
    expect(await getSolvency(treasury.ctx)).toMatchObject([{ newest: { takenAt: treasury.clock.now() } }])
  },
)

test('a proof that cannot be written is told of, and keeps no shortage from being seen', async () => {
  await paidFor('order:a', 1_000n)
  await network.transfer(treasury.account, other.address, 400n)
  await sql`alter table reserve_leaves add constraint full_disk check (false) not valid`.execute(
    treasury.ctx.db,
  )
  expect(await keepReserves(treasury.ctx)).toMatchObject([
    { isNew: true, shortMicros: 400n, trouble: { constraint: 'full_disk' } },
  ])
  expect(await treasury.gate()).toMatchObject({ short_micros: 400n })
})

describe('what is forgotten', () => {
  test('are the leaves of all but the three newest proofs, and snapshots without proof after a week', async () => {
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
    const proven: string[] = []
    for (let n = 0; n < 5; n++) proven.push((await treasury.look(true)).id)
    const plain = await treasury.look()
    await deleteOldSnapshots(treasury.ctx)
    expect((await withLeaves()).toSorted()).toEqual(proven.slice(2).toSorted())
    treasury.clock.advance(7 * DAY + SECOND)
    await deleteOldSnapshots(treasury.ctx)
    // The newest stays whatever its age: it is what is known.
    expect(await snapshots()).toEqual([...proven, plain.id])
    const next = await treasury.look()
    await deleteOldSnapshots(treasury.ctx)
    expect(await snapshots()).toEqual([...proven, next.id])
  })
})
