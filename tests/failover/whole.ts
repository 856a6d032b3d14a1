import { MINUTE } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import { decideByTwo, operatorToken } from '../support/operator.ts'
import { until } from '../support/until.ts'
import { lamportsOf } from '../wallets/wallet-market.ts'
import type { BusyMarket } from './busy-market.ts'
import { PAYOUT, SENT } from './clients.ts'

/** What the market and its chains show after a drill, when every client has finished. */

const LONG = { withinMs: 300_000, everyMs: 200 }
/** Longer than what a lost database has signed can be executed. */
const WINDOW_MS = 32 * MINUTE

interface Unexplained {
  readonly id: string
  readonly network: Network
  readonly payee: string
  readonly payout_id: string | null
}

/** Payments whose payout the database does not have. On Solana they name it all the same. */
async function unexplained({ market }: BusyMarket): Promise<readonly Unexplained[]> {
  const bearer = await operatorToken(market)
  const { status, body } = await market.client().get('/api/admin/outgoing-transfers?limit=100', { bearer })
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  const payouts = await market.db.selectFrom('payouts').select('id').execute()
  const known = new Set<string | null>(payouts.map(({ id }) => id))
  return (body.data as Unexplained[]).filter(({ payout_id }) => !known.has(payout_id))
}

/** Charges each payment whose order is lost to what its buyer paid, as two operators do. */
async function pairLost(world: BusyMarket, paired: Set<string>): Promise<void> {
  for (const { id, network, payee } of await unexplained(world)) {
    const order = world.orders.find(
      (one) =>
        one.isGone &&
        one.transfer !== undefined &&
        !paired.has(one.id) &&
        one.seller.payee.toLowerCase() === payee.toLowerCase(),
    )
    if (order === undefined) throw new Error(`no lost order was paid with ${id} to ${payee}`)
    const payload = { transfer_id: id, unmatched_id: `suspense:${network}:${order.transfer}` }
    // The buyer's transfer must be final again in the database: then it is tried again.
    const reply = await decideByTwo(world.market as never, 'pair_transfer', payload).catch(() => undefined)
    if (reply?.status === 200) paired.add(order.id)
  }
}

/** Until nothing is owed and every payment is explained. Returns how many payments had lost their orders. */
export async function settleAll(world: BusyMarket): Promise<number> {
  const { market } = world
  const { db } = market
  const paired = new Set<string>()
  const waiting = async () =>
    (await db.selectFrom('payouts').select('id').where('state', '<>', 'final').execute()).length
  // What can take the place of a lost payout waits until what was signed has expired.
  await market.chains['base-mainnet'].chain.rpc('evm_increaseTime', [WINDOW_MS / 1_000])
  await market.advance(WINDOW_MS)
  await until(
    'every payout is final and explained',
    async () => {
      await pairLost(world, paired)
      return (await waiting()) === 0 && (await unexplained(world)).length === 0
    },
    LONG,
  )
  return paired.size
}

/** Differences between what sellers received and their completed or paired orders, in payouts. */
export async function wrongPayouts({ readers, orders }: BusyMarket, paired: number): Promise<number> {
  let wrong = 0
  let received = 0n
  for (const { seller } of readers) {
    const got = (await seller.place.balanceOf(seller.payee)) - seller.begun
    const owed = orders.filter((one) => one.seller === seller && !one.isGone).length
    const lost = orders.filter(
      (one) => one.seller === seller && one.isGone && one.transfer !== undefined,
    ).length
    received += got
    // A lost order can have been paid out, once.
    if (got < BigInt(owed) * PAYOUT || got > BigInt(owed + lost) * PAYOUT || got % PAYOUT !== 0n) wrong++
  }
  const all = orders.filter(({ isGone }) => !isGone).length + paired
  return wrong + (received === BigInt(all) * PAYOUT ? 0 : 1)
}

/** Recipients that got another amount than was sent to them. */
export async function wrongSends({ sends, wallets }: BusyMarket): Promise<number> {
  const got = await Promise.all(sends.map(({ to }) => lamportsOf(wallets, to)))
  return got.filter((lamports) => lamports !== SENT).length
}

/** Events that a seller did not read although it followed its cursor, and was not told that they are lost. */
export async function readEvents({ market, readers }: BusyMarket) {
  let skipped = 0
  let resets = 0
  for (const { seller, events } of readers) {
    await events.stop()
    const stored = await market.db
      .selectFrom('events')
      .select(['event', 'order_id'])
      .where('agent_id', '=', seller.id)
      .execute()
    const known = new Set(stored.map(({ event, order_id }) => `${event} ${order_id}`))
    skipped += known.difference(events.seen).size
    if (events.resets() === 0) skipped += events.seen.difference(known).size
    resets += events.resets()
  }
  return { skipped, resets }
}

/** What clients were told is done, and the database does not have. */
export async function lostWrites({ market, orders, registered }: BusyMarket): Promise<number> {
  const known = new Set(
    (await market.db.selectFrom('agents').select('id').execute()).map(({ id }) => id as string),
  )
  const steps = orders.reduce((sum, { isGone, done, again }) => sum + (isGone ? done.size : again.size), 0)
  return steps + registered.filter((id) => !known.has(id)).length
}

/** The sum of all accounts, and what treasuries lack. */
export async function imbalance({ market }: BusyMarket): Promise<bigint> {
  const { rows } = await sql<{ wrong: string }>`
    select (select coalesce(sum(abs(total)), 0) from (select sum(balance_micros) as total from ledger_accounts group by network) as networks)
      + (select coalesce(sum(short_micros), 0) from payout_guards) as wrong`.execute(market.db)
  return BigInt(rows[0]?.wrong ?? -1)
}

/** Networks on which payouts may be signed again. */
export async function openNetworks({ market }: BusyMarket): Promise<number> {
  const { rows } = await sql<{ open: string }>`
    select count(*) as open from payout_guards where database_epoch = database_epoch() and compared_at is not null`.execute(
    market.db,
  )
  return Number(rows[0]?.open ?? 0)
}
