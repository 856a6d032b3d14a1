import { HOUR, MINUTE } from '@market/kernel/clock'
import { NETWORKS, type Network } from '@market/kernel/network'
import { seededRandom } from '../../support/payout-random.ts'
import { isTrueWithin, until } from '../../support/until.ts'
import { type AppServices, startApp } from './application.ts'
import type { Bug } from './bug.ts'
import { type Counts, retryingClient } from './client.ts'
import { leaveLater } from './earn.ts'
import { type Environment, startEnvironment } from './environment.ts'
import { newEvmBuyers } from './evm-test-chain.ts'
import { type Facts, gatherFacts } from './facts.ts'
import { type FaultName, startFaultInjector } from './fault-injector.ts'
import { type Violation, violationsOf } from './invariants.ts'
import { startLoad } from './load.ts'
import { ALIVE, pendingWork } from './pending-work.ts'
import type { RelayFaults } from './relay.ts'
import { dropTransfers, payAgain, sendAgain } from './repay.ts'
import { saveTraces } from './save-traces.ts'
import type { ScenarioName } from './scenarios.ts'
import { newSellers } from './sellers.ts'
import { type Buyer, INITIAL_BALANCE } from './test-chain.ts'
import type { TestOrder } from './test-order.ts'

export interface RunSettings {
  readonly seed: number
  readonly orders: number
  readonly abreast: number
  readonly networks?: readonly Network[]
  readonly scenario?: ScenarioName
  /** The number of injected faults; without it there are none. */
  readonly faults: number
  readonly faultNames?: readonly FaultName[]
  readonly reorgs?: number
  readonly thieves?: number
  readonly purchases?: number
  readonly bounties?: number
  readonly earn?: number
  readonly unbound?: boolean
  /** Buyers who never notice that a reorganisation took their payment away. */
  readonly careless?: boolean
  /** How all nodes behave, from the first order to the end. */
  readonly nodes?: Partial<RelayFaults>
  /** How the first provider of every network behaves besides. */
  readonly firstProvider?: Partial<RelayFaults>
  /** How long a slot lasts on Solana. */
  readonly slotMs?: number
  readonly epochSlots?: number
  readonly bug?: Bug
  /** How long the application may take to settle; what is broken on purpose may never. */
  readonly settledWithinMs?: number
}

export interface Report {
  readonly seed: number
  readonly orders: number
  readonly counts: Counts
  readonly faults: Readonly<Record<string, number>>
  /** Payments that reorganisations took away, and how many of them were made again and seen through. */
  readonly vanished: number
  /** Orders that the clock released. */
  readonly released: number
  /** What was rejected, and how often: races have losers, and thieves. */
  readonly rejected: Readonly<Record<string, number>>
  readonly paidAgain: number
  /** Deposits into Earn and withdrawals from it, by status. */
  readonly earn: Readonly<Record<string, number>>
  readonly payouts: number
  /** Snapshots in which a treasury was short. */
  readonly shortSnapshots: readonly string[]
  readonly faultsMs: number
  /** From the last fault until all clients are done, and from then until no work is pending. */
  readonly endedMs: number
  readonly settledMs: number
  readonly violations: readonly Violation[]
}

const SELLERS = 5
const OTHER_BUYERS = 4
/** Longer than it takes on a machine that is much too busy: what never settles is found, and what did is looked at whole. */
const SETTLED_WITHIN_MS = 600_000
/** Faults start when so many orders are paid, so that there is work to disturb. */
const FIRST_PAID = 3
const LEASE_MS = 25_000
const REVIEW_IS_OVER_MS = 49 * HOUR
const JUMP_EVERY_MS = 4_000
/** What the application itself waits for by its clock: payouts that are held come up again, and a payment that never came is given up. */
const WAITS: readonly (readonly [what: string, ms: number])[] = [
  ['payouts', 31_000],
  ['payments', 61 * MINUTE],
  ['moves of Earn', 61_000],
]
/** A payout is authorized for 30 minutes of its chain. */
const AUTHORIZED_SECONDS = 31 * 60
const SLOW_ORDER_MS = 1_000
const LONG = { withinMs: 120_000, everyMs: 50 }

function countErrors(testOrders: readonly TestOrder[]): Record<string, number> {
  const all = testOrders.flatMap(({ acknowledged }) => acknowledged.filter(({ status }) => status >= 300))
  const groups = Map.groupBy(all, ({ action, status, code }) => `${action} ${status} ${code}`)
  return Object.fromEntries([...groups].map(([name, some]) => [name, some.length]))
}

/**
 * Sends an unclaimed balance to the treasury. Without one, a payout that is sent twice
 * would take the money of the next one, and fail for want of it.
 */
async function fundTreasury(
  { treasuries }: AppServices,
  network: Network,
  otherUser: Buyer | undefined,
): Promise<void> {
  const transfer = await otherUser?.prepare(network, treasuries[network], INITIAL_BALANCE)
  await transfer?.send()
}

/** A program's order is released by its delivery; any other release is the clock's. */
const releasedByClock = ({ orders, stepsOf }: Facts): number =>
  orders
    .filter(({ payment_method }) => payment_method !== 'x402')
    .flatMap(({ id }) => stepsOf(id))
    .filter(({ action }) => action === 'release').length

function countEarn({ earn: { deposits, withdrawals } }: Facts): Record<string, number> {
  const names = [
    ...deposits.map(({ status }) => `${status} deposits`),
    ...withdrawals.map(
      ({ status, paid_micros }) => `${status} withdrawals${paid_micros > 0n ? ' with money' : ''}`,
    ),
  ]
  return Object.fromEntries(
    [...Map.groupBy(names, (name) => name)].map(([name, some]) => [name, some.length]),
  )
}

/** The snapshots in which money is missing, with what they compared. */
async function findShortSnapshots({ db }: AppServices): Promise<string[]> {
  const rows = await db
    .selectFrom('reserve_snapshots')
    .select(['network', 'taken_at', 'short_micros', 'ledger_micros', 'unfinal_micros', 'in_flight_micros'])
    .select(['final_micros', 'latest_micros'])
    .where('short_micros', '>', 0n)
    .execute()
  return rows.map((row) =>
    JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  )
}

/** One app through one seed: orders while everything shakes, then quiet, then the account of it all. */
async function run(environment: Environment, settings: RunSettings): Promise<Report> {
  const { seed, orders, networks = NETWORKS } = settings
  const random = seededRandom(seed)
  await environment.solana.catchUp()
  const app = await startApp(environment, settings.bug)
  let faults: Readonly<Record<string, number>> = {}
  try {
    const client = retryingClient(app, random)
    const count = orders + OTHER_BUYERS
    const [sellers, evm, solana, adminToken] = await Promise.all([
      newSellers(environment, client, random, SELLERS),
      newEvmBuyers(environment.evm, count),
      environment.solana.newBuyers(count),
      app.adminToken(),
    ])
    const buyers = { 'base-mainnet': evm, 'alt-mainnet': evm, 'solana-mainnet': solana }
    const context = { app, client, adminToken }
    for (const network of NETWORKS) await fundTreasury(app, network, buyers[network][orders])
    const applyNodeSettings = () => {
      for (const relay of environment.relays) relay.set(settings.nodes ?? {})
      for (const network of NETWORKS) environment.relaysOf(network)[0]?.set(settings.firstProvider ?? {})
    }
    applyNodeSettings()
    const load = startLoad({ environment, context, sellers, buyers }, { ...settings, networks })
    const faultsBegan = performance.now()
    const resending: Promise<void>[] = []
    if (settings.faults > 0) {
      await Promise.race([load.done, until('some are paid', () => load.paid() >= FIRST_PAID, LONG)])
      const onReorg = (network: Network) => {
        if (settings.careless !== true) resending.push(sendAgain(load, network))
      }
      const target = { environment, app, random, onReorg }
      // Spread over the orders, so that the last ones meet as much trouble as the first.
      const isDue = (injected: number) =>
        injected < settings.faults && load.begun() * settings.faults >= orders * injected
      const injector = startFaultInjector(target, { ...settings, faults: settings.faultNames, isDue })
      const isEnough = () => injector.injected() >= settings.faults && load.begun() >= orders
      await until('enough was shaken', isEnough, {
        ...LONG,
        withinMs: LONG.withinMs + orders * SLOW_ORDER_MS,
      })
      await injector.calm()
      faults = injector.counts()
      environment.heal()
      applyNodeSettings()
    }
    const faultsMs = Math.round(performance.now() - faultsBegan)
    const began = performance.now()
    await app.areUp()
    // The leases of killed processes expire, so that repeated requests run again.
    await app.jump(LEASE_MS)
    await Promise.all([load.done, ...resending])
    const lost = settings.faults > 0 ? await dropTransfers(environment, context, load) : []
    const paidAgain = settings.careless === true ? 0 : await payAgain(environment, context, lost)
    await leaveLater(environment, context, load.testOrders)
    // After two days without a review, deliveries are released and undelivered orders still wait.
    if (settings.bug === undefined) await app.jump(REVIEW_IS_OVER_MS)
    const endedMs = Math.round(performance.now() - began)
    const waiting = performance.now()
    let why: string | undefined
    let jumpedAt = performance.now()
    let isLater = false
    const isOver = async () => {
      why = await pendingWork(environment, app)
      const waits = WAITS.filter(([what]) => why?.includes(what)).map(([, ms]) => ms)
      if (why?.includes(ALIVE) && !isLater) {
        isLater = true
        for (const chain of Object.values(environment.testChains)) await chain.passTime?.(AUTHORIZED_SECONDS)
      }
      if (waits.length > 0 && performance.now() - jumpedAt > JUMP_EVERY_MS) {
        await app.jump(Math.max(...waits))
        jumpedAt = performance.now()
      }
      return why === undefined
    }
    const withinMs = settings.settledWithinMs ?? SETTLED_WITHIN_MS
    await isTrueWithin(withinMs, isOver, 200)
    const settledMs = Math.round(performance.now() - waiting)
    const facts = await gatherFacts(environment, context, load.testOrders)
    const wrong = [...new Set(client.counts.wrong)]
    const failing = wrong.length === 0 ? [] : [{ invariant: 'no response has status 500', details: wrong }]
    const unsettled = why === undefined ? [] : [{ invariant: 'the application settles', details: [why] }]
    const violations = [...unsettled, ...failing, ...violationsOf(facts)]
    if (violations.length > 0) await saveTraces(app, `${settings.bug?.name ?? 'seed'}-${seed}`)
    return {
      seed,
      orders: facts.orders.length,
      counts: client.counts,
      faults,
      vanished: lost.length,
      released: releasedByClock(facts),
      rejected: countErrors(load.testOrders),
      paidAgain,
      earn: countEarn(facts),
      payouts: facts.payouts.filter(({ state }) => state === 'final').length,
      shortSnapshots: await findShortSnapshots(app),
      faultsMs,
      endedMs,
      settledMs,
      violations,
    }
  } finally {
    environment.heal()
    await app.stop()
  }
}

/** Every run has chains of its own: an old one loses its state when blocks are taken back from it again and again. */
export async function runAlone(settings: RunSettings): Promise<Report> {
  const environment = await startEnvironment(settings.seed, settings)
  try {
    return await run(environment, settings)
  } finally {
    await environment.stop()
  }
}
