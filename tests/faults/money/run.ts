import { HOUR, MINUTE } from '@market/kernel/clock'
import { NETWORKS, type Network } from '@market/kernel/network'
import { seededRandom } from '../../support/payout-random.ts'
import { until } from '../../support/until.ts'
import { type AppServices, startApp } from './application.ts'
import type { Bug } from './bugs.ts'
import { type Counts, patientClient } from './client.ts'
import type { EndingName } from './endings.ts'
import { newEvmBuyers } from './evm-side.ts'
import { type Facts, gatherFacts } from './facts.ts'
import { type FaultName, startFaultInjector } from './fault-injector.ts'
import { type Ground, startGround } from './ground.ts'
import { type Violation, violationsOf } from './invariants.ts'
import { leaveTraces } from './leave-traces.ts'
import { startLoad } from './load.ts'
import type { RelayFaults } from './relay.ts'
import { loseThem, payAgain, sendAgain } from './repay.ts'
import { newSellers } from './sellers.ts'
import { isSettled } from './settled.ts'
import { type Buyer, RICH } from './side.ts'
import type { Story } from './story.ts'

export interface RunSettings {
  readonly seed: number
  readonly orders: number
  readonly abreast: number
  readonly networks?: readonly Network[]
  readonly ending?: EndingName
  /** The number of injected faults; without it there are none. */
  readonly faults: number
  readonly faultNames?: readonly FaultName[]
  readonly reorgs?: number
  readonly thieves?: number
  readonly purchases?: number
  /** Buyers who never notice that a reorganisation took their payment away. */
  readonly careless?: boolean
  /** How all nodes behave, from the first order to the end. */
  readonly nodes?: Partial<RelayFaults>
  /** How long a slot lasts on Solana. */
  readonly slotMs?: number
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
  readonly payouts: number
  readonly shakenMs: number
  /** From the last fault until everybody has done what they wanted, and from then on until nothing moves any more. */
  readonly endedMs: number
  readonly settledMs: number
  readonly violations: readonly Violation[]
}

const SELLERS = 5
const STRANGERS = 4
/** Longer than it takes on a machine that is much too busy: what never settles is found, and what did is looked at whole. */
const SETTLED_WITHIN_MS = 150_000
/** Faults start when so many orders are paid, so that there is work to disturb. */
const FIRST_PAID = 3
const LEASE_MS = 25_000
const REVIEW_IS_OVER_MS = 49 * HOUR
const JUMP_EVERY_MS = 4_000
/** What the application itself waits for by its clock: payouts that are held come up again, and a payment that never came is given up. */
const WAITS: readonly (readonly [what: string, ms: number])[] = [
  ['payouts', 31_000],
  ['payments', 61 * MINUTE],
]
const SLOW_ORDER_MS = 1_000
const LONG = { withinMs: 120_000, everyMs: 50 }

function refusalsIn(stories: readonly Story[]): Record<string, number> {
  const all = stories.flatMap(({ acknowledged }) => acknowledged.filter(({ status }) => status >= 300))
  const groups = Map.groupBy(all, ({ action, status, code }) => `${action} ${status} ${code}`)
  return Object.fromEntries([...groups].map(([name, some]) => [name, some.length]))
}

/**
 * What nobody claims, as treasuries hold it: with nothing but what was just paid in them, a payment that leaves twice
 * would take the money of the next one, and fail for want of it.
 */
async function leaveFloat(
  { treasuries }: AppServices,
  network: Network,
  otherUser: Buyer | undefined,
): Promise<void> {
  const transfer = await otherUser?.prepare(network, treasuries[network], RICH)
  await transfer?.send()
}

/** A program's order is released by its delivery; any other release is the clock's. */
const releasedByClock = ({ orders, stepsOf }: Facts): number =>
  orders
    .filter(({ payment_method }) => payment_method !== 'x402')
    .flatMap(({ id }) => stepsOf(id))
    .filter(({ action }) => action === 'release').length

/** One app through one seed: orders while everything shakes, then quiet, then the account of it all. */
async function run(ground: Ground, settings: RunSettings): Promise<Report> {
  const { seed, orders, networks = NETWORKS } = settings
  const random = seededRandom(seed)
  await ground.solana.catchUp()
  const app = await startApp(ground, settings.bug)
  let faults: Readonly<Record<string, number>> = {}
  try {
    const client = patientClient(app, random)
    const count = orders + STRANGERS
    const [sellers, evm, solana, adminToken] = await Promise.all([
      newSellers(ground, client, random, SELLERS),
      newEvmBuyers(ground.evm, count),
      ground.solana.newBuyers(count),
      app.adminToken(),
    ])
    const buyers = { 'base-mainnet': evm, 'alt-mainnet': evm, 'solana-mainnet': solana }
    const stage = { app, client, adminToken }
    for (const network of NETWORKS) await leaveFloat(app, network, buyers[network][orders])
    const nodesAsAimed = () => {
      for (const relay of ground.relays) relay.set(settings.nodes ?? {})
    }
    nodesAsAimed()
    const load = startLoad({ ground, stage, sellers, buyers }, { ...settings, networks })
    const shaking = performance.now()
    const resending: Promise<void>[] = []
    if (settings.faults > 0) {
      await Promise.race([load.done, until('some are paid', () => load.paid() >= FIRST_PAID, LONG)])
      const onReorg = (network: Network) => {
        if (settings.careless !== true) resending.push(sendAgain(load, network))
      }
      const strike = { ground, app, random, onReorg }
      // Spread over the orders, so that the last ones meet as much trouble as the first.
      const isDue = (struck: number) =>
        struck < settings.faults && load.begun() * settings.faults >= orders * struck
      const injector = startFaultInjector(strike, { ...settings, faults: settings.faultNames, isDue })
      const isEnough = () => injector.struck() >= settings.faults && load.begun() >= orders
      await until('enough was shaken', isEnough, {
        ...LONG,
        withinMs: LONG.withinMs + orders * SLOW_ORDER_MS,
      })
      await injector.calm()
      faults = injector.counts()
      ground.heal()
      nodesAsAimed()
    }
    const shakenMs = Math.round(performance.now() - shaking)
    const began = performance.now()
    await app.areUp()
    // What a killed process had begun to answer is free for whoever asks again.
    await app.jump(LEASE_MS)
    await Promise.all([load.done, ...resending])
    const lost = settings.faults > 0 ? await loseThem(ground, stage, load) : []
    const paidAgain = settings.careless === true ? 0 : await payAgain(ground, stage, lost)
    // Then nobody has answered for two days: what was delivered is released, and what was only paid still waits.
    if (settings.bug === undefined) await app.jump(REVIEW_IS_OVER_MS)
    const endedMs = Math.round(performance.now() - began)
    const waiting = performance.now()
    let why: string | undefined
    let jumpedAt = performance.now()
    const isOver = async () => {
      why = await isSettled(ground, app)
      const waits = WAITS.filter(([what]) => why?.includes(what)).map(([, ms]) => ms)
      if (waits.length > 0 && performance.now() - jumpedAt > JUMP_EVERY_MS) {
        await app.jump(Math.max(...waits))
        jumpedAt = performance.now()
      }
      return why === undefined
    }
    const withinMs = settings.settledWithinMs ?? SETTLED_WITHIN_MS
    await until('the application has settled', isOver, { withinMs, everyMs: 200 }).catch(() => undefined)
    const settledMs = Math.round(performance.now() - waiting)
    const facts = await gatherFacts(ground, stage, load.stories)
    const wrong = [...new Set(client.counts.wrong)]
    const failing = wrong.length === 0 ? [] : [{ invariant: 'no request is answered 500', details: wrong }]
    const unsettled = why === undefined ? [] : [{ invariant: 'the application settles', details: [why] }]
    const violations = [...unsettled, ...failing, ...violationsOf(facts)]
    if (violations.length > 0) await leaveTraces(app, `${settings.bug?.name ?? 'seed'}-${seed}`)
    return {
      seed,
      orders: facts.orders.length,
      counts: client.counts,
      faults,
      vanished: lost.length,
      released: releasedByClock(facts),
      rejected: refusalsIn(load.stories),
      paidAgain,
      payouts: facts.payouts.filter(({ state }) => state === 'final').length,
      shakenMs,
      endedMs,
      settledMs,
      violations,
    }
  } finally {
    ground.heal()
    await app.stop()
  }
}

/** Every run has chains of its own: an old one loses its state when blocks are taken back from it again and again. */
export async function runAlone(settings: RunSettings): Promise<Report> {
  const ground = await startGround(settings.seed, settings.slotMs)
  try {
    return await run(ground, settings)
  } finally {
    await ground.stop()
  }
}
