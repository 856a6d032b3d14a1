import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import type { TestTcpProxy } from '@market/testing/tcp-proxy'
import { until } from '../../support/until.ts'
import type { AppServices } from './application.ts'
import type { Ground } from './ground.ts'
import type { Keeper } from './keeper.ts'

export type FaultName = keyof typeof FAULTS

interface Strike {
  readonly ground: Ground
  readonly app: AppServices
  readonly random: () => number
  readonly onReorg: (network: Network) => void
}

const pick = <T>(from: readonly T[], random: () => number): T => {
  const one = from[Math.floor(random() * from.length)]
  if (one === undefined) throw new Error('nothing to choose from')
  return one
}

const someProcess = ({ app, random }: Strike): Keeper => pick([...app.apis, ...app.workers], random)
const someProxy = ({ ground, random }: Strike): TestTcpProxy => pick(Object.values(ground.proxies), random)
const someRelays = ({ ground, random }: Strike) =>
  ground.relaysOf(pick(Object.values(ground.sides), random).network)

/** A final block lies sixteen blocks behind the newest: nothing may take those back. */
const DEEP = 12n
const FRESH_WITHIN_MS = 3_000

/** The depth that takes away the newest payment the application has counted; undefined when none comes for a while. */
async function freshPayment({ ground, app }: Strike) {
  const deadline = performance.now() + FRESH_WITHIN_MS
  while (performance.now() < deadline) {
    for (const side of ground.evm) {
      const head = BigInt(String(await side.chain.rpc('eth_blockNumber')))
      const found = await app.db
        .selectFrom('transfers')
        .select('block_height')
        .where('network', '=', side.network)
        .where('purpose', '<>', '')
        .where('missing_since', 'is', null)
        .where('block_height', '>', head - DEEP)
        .executeTakeFirst()
        .catch(() => undefined)
      if (found !== undefined) return { side, depth: Number(head - found.block_height) + 1 }
    }
    await wait(20)
  }
  return undefined
}

const COMES_WITHIN_MS = 5_000
const CUT_FOR_MS = 1_500
const LOOK_EVERY_MS = 5

/** Whether it happens before one tires of waiting. */
const happens = (isSo: () => boolean): Promise<boolean> =>
  until('it happens', isSo, { withinMs: COMES_WITHIN_MS, everyMs: LOOK_EVERY_MS }).then(
    () => true,
    () => false,
  )

/** Whether anything is sent to a chain meanwhile. */
function isSent({ ground }: Strike): Promise<boolean> {
  const sends = () => ground.relays.reduce((sum, relay) => sum + relay.sends(), 0)
  const before = sends()
  return happens(() => sends() > before)
}

/** What happens to the world. Each lasts as long as it says, and leaves the world as it was. */
const FAULTS = {
  killApi: async ({ app, random }: Strike) => pick(app.apis, random).signal('SIGKILL'),
  killWorker: async ({ app, random }: Strike) => pick(app.workers, random).signal('SIGKILL'),
  killPostgres: async ({ ground }: Strike) => {
    await ground.postgres.kill()
    await ground.postgres.start()
  },
  killRedis: async ({ ground, random }: Strike) => {
    await ground.redis.kill()
    await wait(random() * 500)
    await ground.redis.restart()
  },
  stopProcess: async (strike: Strike) => {
    const victim = someProcess(strike)
    victim.signal('SIGSTOP')
    await wait(1_000 + strike.random() * 1_000)
    victim.signal('SIGCONT')
  },
  /** Both workers, at the moment one of them sends a payout: nobody knows whether it left. */
  killAtSend: async (strike: Strike) => {
    if (await isSent(strike)) for (const worker of strike.app.workers) worker.signal('SIGKILL')
  },
  /** The same of the api, which sends what buyers have signed. */
  killApiAtSend: async (strike: Strike) => {
    if (await isSent(strike)) for (const api of strike.app.apis) api.signal('SIGKILL')
  },
  /** A connection of an api process, as it says that what it did shall stay. */
  cutAtCommit: async ({ ground }: Strike) => {
    ground.proxies.postgresOfApi.cutAt(/\bcommit\b/i)
    await wait(CUT_FOR_MS)
    ground.proxies.postgresOfApi.cutAt(undefined)
  },
  cut: async (strike: Strike) => someProxy(strike).cut(),
  blackHole: async (strike: Strike) => {
    const proxy = someProxy(strike)
    proxy.set({ blackhole: true })
    await wait(200 + strike.random() * 1_500)
    proxy.set({ blackhole: false })
  },
  latency: async (strike: Strike) => {
    const proxy = someProxy(strike)
    proxy.set({ latencyMs: 20 + strike.random() * 60 })
    await wait(1_000)
    proxy.set({ latencyMs: 0 })
  },
  /** Both nodes of a network fail and hang, and what is sent through them arrives late. */
  badNodes: async (strike: Strike) => {
    const relays = someRelays(strike)
    for (const relay of relays) relay.set({ share: 0.4, late: 0.6 })
    await wait(800 + strike.random() * 1_500)
    for (const relay of relays) relay.set({ share: 0, late: 0 })
  },
  /** One node of a network, or both of them, tell what was true a while ago. */
  staleNodes: async (strike: Strike) => {
    const relays = someRelays(strike)
    const some = strike.random() < 0.5 ? relays : relays.slice(0, 1)
    for (const relay of some) relay.set({ behind: 2 + Math.floor(strike.random() * 20) })
    await wait(800 + strike.random() * 1_500)
    for (const relay of some) relay.set({ behind: 0 })
  },
  /** Deep enough to take a payment away that the application has counted, when there is one that is not final yet. */
  reorg: async (strike: Strike) => {
    const { side, depth } = (await freshPayment(strike)) ?? {
      side: pick(strike.ground.evm, strike.random),
      depth: 2,
    }
    // Blocks may have come since.
    await side.reorg(depth + 1)
    strike.onReorg(side.network)
  },
} as const satisfies Record<string, (strike: Strike) => Promise<unknown>>

/** Two faults may happen at once, but a server that is down is not struck again. */
const ALONE = new Set<FaultName>(['killPostgres', 'killRedis'])

const EVERY: readonly FaultName[] = [
  ...(['killApi', 'killWorker', 'killWorker', 'killPostgres', 'killRedis', 'stopProcess', 'cut'] as const),
  ...([
    'blackHole',
    'latency',
    'badNodes',
    'badNodes',
    'staleNodes',
    'killAtSend',
    'killApiAtSend',
    'cutAtCommit',
  ] as const),
]

const LEAST_PAUSE_MS = 350
const MORE_PAUSE_MS = 350

interface FaultInjectorSettings {
  readonly faults?: readonly FaultName[] | undefined
  readonly reorgs?: number | undefined
  /** Whether the time has come for the next strike, when there were so many. */
  readonly isDue: (struck: number) => boolean
}

/** Strikes every half second at most, by its own dice; reorganisations come at the given strikes. */
export function startFaultInjector(
  strike: Strike,
  { faults = EVERY, reorgs = 4, isDue }: FaultInjectorSettings,
) {
  const { random } = strike
  const counts = new Map<FaultName, number>()
  const lasting = new Map<FaultName, Promise<unknown>>()
  const end = new AbortController()
  let failure: unknown
  let struck = 0

  const begin = (name: FaultName) => {
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const work = FAULTS[name](strike)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => lasting.delete(name))
    lasting.set(name, work)
    return work
  }
  const striking = (async () => {
    const reorgAt = new Set(Array.from({ length: reorgs }, (_, n) => 2 + 4 * n))
    while (!end.signal.aborted) {
      await wait(LEAST_PAUSE_MS + random() * MORE_PAUSE_MS)
      if (end.signal.aborted) return
      const name = reorgAt.has(struck) ? 'reorg' : pick(faults, random)
      if (lasting.has(name) || !isDue(struck)) continue
      struck++
      const work = begin(name)
      if (ALONE.has(name)) await work
    }
  })()
  return {
    struck: () => struck,
    counts: () => Object.fromEntries(counts),
    /** No more strikes; ends when the last one is over. */
    async calm(): Promise<void> {
      end.abort()
      await striking
      await Promise.all(lasting.values())
      if (failure !== undefined) throw failure
    },
  }
}
