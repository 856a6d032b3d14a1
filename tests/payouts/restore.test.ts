import { turnSwitch } from '@market/core/switches'
import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { balanceOf, fees, post, totals } from '@market/money/ledger'
import { type Payout, payoutIdOf, writeOffTransfer } from '@market/money/payouts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { floatOf, type PayoutWorld, startPayoutWorld, type WorldBooks } from '../support/payout-world.ts'
import { until } from '../support/until.ts'
import type { WorkerProcess } from '../support/worker-process.ts'

const SENDS = /"(?:sendTransaction|eth_sendRawTransaction)"/
const HISTORY = /"(?:getSignaturesForAddress|eth_getLogs)"/
const NOT_COMPARED = 'Not yet compared with the chain since the database came up'
const LONG = { withinMs: 150_000, everyMs: 100 }
const PER_BATCH = 2

interface Owed {
  readonly network: Network
  readonly subject: string
  readonly payee: string
  readonly amount: ReturnType<typeof usdc>
}

const idOf = ({ subject }: Owed) => payoutIdOf('payout', subject)

/** Some payouts on each network, each to a wallet of its own. */
async function owe({ chains }: PayoutWorld, batch: string): Promise<Owed[]> {
  const owed: Owed[] = []
  for (const network of NETWORKS)
    for (let n = 0; n < PER_BATCH; n++)
      owed.push({
        network,
        subject: `${batch}-${network}-${n}`,
        payee: await chains[network].newPayee(),
        amount: usdc(1_000_001n),
      })
  return owed
}

const request = async (books: WorldBooks, owed: readonly Owed[]): Promise<Payout[]> =>
  Promise.all(owed.map(({ network, ...wanted }) => books.request(network, { kind: 'payout', ...wanted })))

const rowsOf = ({ db }: WorldBooks, owed: readonly Owed[]) =>
  db.selectFrom('payouts').selectAll().where('id', 'in', owed.map(idOf)).orderBy('id').execute()

const untilAll = (books: WorldBooks, owed: readonly Owed[], what: string, isSo: (row: Row) => boolean) =>
  until(
    `${owed.length} payouts are ${what}`,
    async () => {
      const rows = await rowsOf(books, owed)
      return rows.length === owed.length && rows.every(isSo)
    },
    LONG,
  )
type Row = Awaited<ReturnType<typeof rowsOf>>[number]

const untilFinal = (books: WorldBooks, owed: readonly Owed[]) =>
  untilAll(books, owed, 'final', ({ state }) => state === 'final')

const freeze = ({ ctx }: WorldBooks, on: boolean) =>
  turnSwitch(ctx, { name: 'freeze_payouts', on, reason: 'a test' })

const expectPaidOnce = async ({ chains }: PayoutWorld, owed: readonly Owed[]) => {
  for (const { network, payee, amount } of owed)
    expect({ payee, holds: await chains[network].balanceOf(payee) }).toEqual({ payee, holds: amount })
}

const references = async (books: WorldBooks, owed: readonly Owed[]) =>
  (await rowsOf(books, owed)).map(({ id, final_reference }) => [id, final_reference])

const treasuries = ({ chains }: PayoutWorld) =>
  Promise.all(NETWORKS.map((network) => chains[network].balanceOf(chains[network].treasury)))

const expectBooksAgree = async (world: PayoutWorld, { db }: WorldBooks) => {
  const books = await Promise.all(NETWORKS.map((network) => totals(db, network)))
  expect(books.map(({ treasuryView }) => treasuryView)).toEqual(await treasuries(world))
  expect(books.map(({ imbalance }) => imbalance)).toEqual([0n, 0n, 0n])
}

/** What the world did: batches by how far they were when the backup was made, the last of them not even asked for. */
interface History {
  readonly ended: readonly Owed[]
  readonly signed: readonly Owed[]
  readonly waiting: readonly Owed[]
  readonly lost: readonly Owed[]
  readonly restore: () => Promise<WorldBooks>
}

/** All of it is paid in the end, by a database that is then lost. */
async function liveOn(world: PayoutWorld): Promise<History> {
  const { books } = world
  const worker = await books.worker()
  const [ended, signed, waiting, lost] = [
    await owe(world, 'ended'),
    await owe(world, 'signed'),
    await owe(world, 'waiting'),
    await owe(world, 'lost'),
  ]
  try {
    await request(books, ended)
    await untilFinal(books, ended)
    world.holdBack(SENDS)
    await request(books, signed)
    await untilAll(books, signed, 'signed', ({ state }) => state === 'signed')
    await freeze(books, true)
    await request(books, waiting)
    await untilAll(books, waiting, 'held', ({ reason }) => reason === 'Payouts are frozen')
    const restore = await world.backup()
    await freeze(books, false)
    await request(books, lost)
    // On Solana what was signed dies unsent, and is signed anew: the backup knows the older signature only.
    await until('Solana’s are signed anew', () => isSignedAnew(books, signed), LONG)
    world.holdBack(undefined)
    await untilFinal(books, [...signed, ...waiting, ...lost])
    return { ended, signed, waiting, lost, restore }
  } finally {
    await worker.stop()
  }
}

const isSignedAnew = async ({ db }: WorldBooks, owed: readonly Owed[]): Promise<boolean> => {
  const ids = owed.filter(({ network }) => network === 'solana-mainnet').map(idOf)
  const rows = await db.selectFrom('payout_signatures').select('n').where('payout_id', 'in', ids).execute()
  return rows.filter(({ n }) => n > 1).length >= ids.length
}

let world: PayoutWorld
let history: History
beforeAll(async () => {
  world = await startPayoutWorld(1)
  history = await liveOn(world)
}, 240_000)
afterAll(() => world?.stop())

const withWorker = async (books: WorldBooks, work: (worker: WorkerProcess) => Promise<void>) => {
  const worker = await books.worker()
  try {
    await work(worker)
  } finally {
    await worker.stop()
  }
}

test('a restored database pays nothing twice: what it lost and is asked for again is found on the chains', {
  timeout: 300_000,
}, async () => {
  const { ended, signed, waiting, lost } = history
  const books = await history.restore()
  const fresh = await owe(world, 'fresh')
  const before = await treasuries(world)
  world.holdBack(HISTORY)
  await freeze(books, false)
  await withWorker(books, async () => {
    // As clients do who never heard of it.
    await request(books, [...waiting, ...lost, ...fresh])
    await untilAll(
      books,
      [...waiting, ...lost, ...fresh],
      'held until the chains were read',
      ({ state, reason }) => state === 'held' && reason === NOT_COMPARED,
    )
    expect(await treasuries(world)).toEqual(before)
    world.holdBack(undefined)
    await untilFinal(books, [...signed, ...waiting, ...lost, ...fresh])
  })
  await expectPaidOnce(world, [...ended, ...signed, ...waiting, ...lost, ...fresh])
  const known = [...ended, ...signed, ...waiting, ...lost]
  expect(await references(books, known)).toEqual(await references(world.books, known))
  await expectBooksAgree(world, books)
})

test('a restored database that is never asked again for what it lost pays nothing new until the loss is booked', {
  timeout: 300_000,
}, async () => {
  const { signed, waiting, lost } = history
  const books = await history.restore()
  const { ctx, db } = books
  await freeze(books, false)
  const next = await owe(world, 'next')
  let gone: { network: string; reference: string; amount_micros: bigint }[] = []
  await withWorker(books, async () => {
    await request(books, next)
    await untilFinal(books, [...signed, ...waiting])
    await untilAll(books, next, 'held for the shortage', ({ reason }) => /short by/.test(reason ?? ''))
    for (const network of NETWORKS) {
      const moves = [{ from: floatOf(network), to: fees(network), amount: usdc(50_000_000n) }]
      const earned = { key: `earned:${network}`, reason: 'earned', subject: 'earned', network, moves }
      await ctx.transact((tx) => post(ctx, tx, earned))
    }
    gone = await db
      .selectFrom('outgoing_transfers')
      .select(['network', 'reference', 'amount_micros'])
      .where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('payouts')
              .select('id')
              .whereRef('payouts.id', '=', 'outgoing_transfers.payout_id'),
          ),
        ),
      )
      .execute()
    for (const { network, reference } of gone)
      await ctx.transact((tx) => writeOffTransfer(ctx, tx, { network: network as Network, reference }))
    await untilFinal(books, next)
  })
  await expectPaidOnce(world, [...lost, ...next])
  await expectBooksAgree(world, books)
  expect(gone.length).toBeGreaterThanOrEqual(lost.length)
  for (const network of NETWORKS) {
    const loss = gone
      .filter((one) => one.network === network)
      .reduce((sum, { amount_micros }) => sum + amount_micros, 0n)
    expect(await balanceOf(db, fees(network))).toBe(50_000_000n - loss)
  }
})

test('payouts go on after the database was restarted, once it was compared again', {
  timeout: 300_000,
}, async () => {
  const postgres = await startOwnPostgres()
  const other = await startPayoutWorld(2, postgres)
  const { books } = other
  try {
    await withWorker(books, async () => {
      const [before, after] = [await owe(other, 'before'), await owe(other, 'after')]
      await request(books, before)
      await untilFinal(books, before)
      const gates = () =>
        books.db.selectFrom('payout_guards').select('database_epoch').orderBy('network').execute()
      const lives = await gates()
      await postgres.crashAndRestart()
      await until(
        'the database answers',
        () =>
          gates().then(
            () => true,
            () => false,
          ),
        LONG,
      )
      await request(books, after)
      await untilFinal(books, after)
      expect(
        (await gates()).filter(({ database_epoch }) =>
          lives.some((old) => old.database_epoch === database_epoch),
        ),
      ).toEqual([])
      await expectPaidOnce(other, [...before, ...after])
      await expectBooksAgree(other, books)
    })
  } finally {
    await other.stop()
  }
})
