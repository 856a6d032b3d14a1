import { SECOND } from '@market/kernel/clock'
import { expect, test } from 'vitest'
import { expectWithin } from '../support/measured.ts'
import { until } from '../support/until.ts'
import { type BusyMarket, startBusyMarket } from './busy-market.ts'
import {
  imbalance,
  lostWrites,
  openNetworks,
  readEvents,
  settleAll,
  wrongPayouts,
  wrongSends,
} from './whole.ts'

/** Drills of docs/operations/failover.md: the database is lost or put back while everything goes on. */

const ORDERS_BEFORE = 6
const ORDERS_AFTER = 4
const BEHIND_MS = 2 * SECOND
const BACK_MS = 30 * SECOND
const TIMEOUT = 1_200_000

interface Drill {
  readonly name: string
  /** Before the clients are busy for a while. */
  prepare(world: BusyMarket): Promise<void>
  /** Loses the primary or what it has, and gives the address to another server. Returns when the loss began. */
  lose(world: BusyMarket): Promise<number>
}

const longestGap = (times: readonly number[], since: number): number => {
  const after = times.filter((at) => at > since - SECOND).toSorted((a, b) => a - b)
  return Math.max(...after.slice(1).map((at, before) => at - (after[before] ?? at)))
}

async function runDrill({ name, prepare, lose }: Drill) {
  const world = await startBusyMarket()
  try {
    await prepare(world)
    await world.untilCompleted(ORDERS_BEFORE)
    const lostAt = await lose(world)
    const acknowledged = world.written.filter(({ at }) => at < lostAt).length
    const backAt = Date.now()
    const isOpen = async () => (await openNetworks(world).catch(() => 0)) === 2
    await until('payouts are open', isOpen, { withinMs: 300_000, everyMs: 100 })
    const openMs = Date.now() - backAt
    await world.untilCompleted(ORDERS_AFTER)
    await world.finish()
    const unknown = await settleAll(world)
    const found = {
      wrongPayouts: await wrongPayouts(world, unknown),
      wrongSends: await wrongSends(world),
      ...(await readEvents(world)),
      imbalance: await imbalance(world),
    }
    const lost = await lostWrites(world)
    const gapMs = longestGap(
      world.written.map(({ at }) => at),
      lostAt,
    )
    const row = [
      name,
      `${(gapMs / SECOND).toFixed(1)} s`,
      `${lost} of ${acknowledged}`,
      `${world.orders.length}, ${found.wrongPayouts}`,
      unknown,
      `${world.sends.length}, ${found.wrongSends}`,
      `${found.skipped}, ${found.resets}`,
      `${(openMs / SECOND).toFixed(0)} s`,
    ]
    process.stdout.write(`| ${row.join(' | ')} |\n`)
    return { ...found, lost, gapMs, unknown }
  } finally {
    await world.stop()
  }
}

const WHOLE = { wrongPayouts: 0, wrongSends: 0, skipped: 0, imbalance: 0n }

async function failOver({ cluster }: BusyMarket): Promise<number> {
  const at = Date.now()
  await cluster.killPrimary()
  await cluster.failOver()
  return at
}

test('failover: a primary with a synchronous standby is killed, and nothing that was acknowledged is lost', {
  timeout: TIMEOUT,
}, async () => {
  const { gapMs, ...found } = await runDrill({
    name: 'kill, sync',
    prepare: ({ cluster }) => cluster.synchronous(true),
    lose: failOver,
  })
  expect(found).toEqual({ ...WHOLE, lost: 0, resets: 0, unknown: 0 })
  expectWithin(gapMs, 5_000)
})

test('failover: the standby that is promoted is 2 s behind, and nothing is paid or sent twice or never', {
  timeout: TIMEOUT,
}, async () => {
  const found = await runDrill({
    name: 'kill, async, 2 s behind',
    prepare: ({ cluster }) => cluster.synchronous(false),
    lose: async (world) => {
      world.cluster.cutStandbyOff()
      await world.untilCompleted(1, BEHIND_MS)
      return failOver(world)
    },
  })
  expect(found).toMatchObject(WHOLE)
  expect(found.lost).toBeGreaterThan(0)
})

test('recovery: the database is put back to 30 s before, and nothing is paid or sent twice or never', {
  timeout: TIMEOUT,
}, async () => {
  const found = await runDrill({
    name: 'recovery to 30 s before',
    prepare: ({ cluster }) => cluster.synchronous(false),
    lose: async (world) => {
      const { cluster } = world
      await world.untilCompleted(1, BACK_MS)
      const at = Date.now()
      cluster.close()
      await world.stopWorker()
      await cluster.recoverTo(new Date(at - BACK_MS))
      await world.startWorker()
      return at
    },
  })
  expect(found).toMatchObject(WHOLE)
  expect(found.lost).toBeGreaterThan(0)
})
