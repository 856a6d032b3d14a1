import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import type { TestTcpProxy } from '@market/testing/tcp-proxy'
import { isTrueWithin } from '../../support/until.ts'
import type { AppServices } from './application.ts'
import type { Environment } from './environment.ts'
import type { Supervisor } from './supervisor.ts'

export type FaultName = keyof typeof FAULTS

interface FaultTarget {
  readonly environment: Environment
  readonly app: AppServices
  readonly random: () => number
  readonly onReorg: (network: Network) => void
}

const pick = <T>(from: readonly T[], random: () => number): T => {
  const one = from[Math.floor(random() * from.length)]
  if (one === undefined) throw new Error('nothing to choose from')
  return one
}

const someProcess = ({ app, random }: FaultTarget): Supervisor => pick([...app.apis, ...app.workers], random)
const someProxy = ({ environment, random }: FaultTarget): TestTcpProxy =>
  pick(Object.values(environment.proxies), random)
const someRelays = ({ environment, random }: FaultTarget) =>
  environment.relaysOf(pick(Object.values(environment.testChains), random).network)

/** Nothing may take back a final block. */
const SHORT_OF_FINAL = 4
const FRESH_WITHIN_MS = 3_000
const FINAL_WITHIN_MS = 12_000

/** The depth that takes away a payment the application has counted; undefined when none comes for a while. */
async function freshPayment({ environment, app }: FaultTarget, states: readonly string[], withinMs: number) {
  const deadline = performance.now() + withinMs
  while (performance.now() < deadline) {
    for (const testChain of environment.evm) {
      const head = BigInt(String(await testChain.chain.rpc('eth_blockNumber')))
      const found = await app.db
        .selectFrom('transfers')
        .select('block_height')
        .where('network', '=', testChain.network)
        .where('purpose', '<>', '')
        .where('state', 'in', states)
        .where('missing_since', 'is', null)
        .where('block_height', '>', head - BigInt(testChain.finalAfter - SHORT_OF_FINAL))
        .executeTakeFirst()
        .catch(() => undefined)
      if (found !== undefined) return { testChain, depth: Number(head - found.block_height) + 1 }
    }
    await wait(20)
  }
  return undefined
}

async function takeBack(target: FaultTarget, states: readonly string[], withinMs: number): Promise<void> {
  const { testChain, depth } = (await freshPayment(target, states, withinMs)) ?? {
    testChain: pick(target.environment.evm, target.random),
    depth: 2,
  }
  // Blocks may have come since.
  await testChain.reorg(depth + 1)
  target.onReorg(testChain.network)
}

const COMES_WITHIN_MS = 5_000
const CUT_FOR_MS = 1_500
const POLL_MS = 5

/** Whether it happens before one tires of waiting. */
const happens = (isSo: () => boolean): Promise<boolean> => isTrueWithin(COMES_WITHIN_MS, isSo, POLL_MS)

/** Whether anything is sent to a chain meanwhile. */
function isSent({ environment }: FaultTarget): Promise<boolean> {
  const sends = () => environment.relays.reduce((sum, relay) => sum + relay.sends(), 0)
  const before = sends()
  return happens(() => sends() > before)
}

/** What happens to the world. Each lasts as long as it says, and leaves the world as it was. */
const FAULTS = {
  killApi: async ({ app, random }: FaultTarget) => pick(app.apis, random).signal('SIGKILL'),
  killWorker: async ({ app, random }: FaultTarget) => pick(app.workers, random).signal('SIGKILL'),
  killPostgres: async ({ environment }: FaultTarget) => {
    await environment.postgres.kill()
    await environment.postgres.start()
  },
  killRedis: async ({ environment, random }: FaultTarget) => {
    await environment.redis.kill()
    await wait(random() * 500)
    await environment.redis.restart()
  },
  stopProcess: async (target: FaultTarget) => {
    const victim = someProcess(target)
    victim.signal('SIGSTOP')
    await wait(1_000 + target.random() * 1_000)
    victim.signal('SIGCONT')
  },
  /** Kills both workers while one sends a payout, so that its outcome is unknown. */
  killAtSend: async (target: FaultTarget) => {
    if (await isSent(target)) for (const worker of target.app.workers) worker.signal('SIGKILL')
  },
  /** The same of the api, which sends what buyers have signed. */
  killApiAtSend: async (target: FaultTarget) => {
    if (await isSent(target)) for (const api of target.app.apis) api.signal('SIGKILL')
  },
  /** A connection of an api process, as it says that what it did shall stay. */
  cutAtCommit: async ({ environment }: FaultTarget) => {
    environment.proxies.postgresOfApi.cutAt(/\bcommit\b/i)
    await wait(CUT_FOR_MS)
    environment.proxies.postgresOfApi.cutAt(undefined)
  },
  cut: async (target: FaultTarget) => someProxy(target).cut(),
  blackHole: async (target: FaultTarget) => {
    const proxy = someProxy(target)
    proxy.set({ blackhole: true })
    await wait(200 + target.random() * 1_500)
    proxy.set({ blackhole: false })
  },
  latency: async (target: FaultTarget) => {
    const proxy = someProxy(target)
    proxy.set({ latencyMs: 20 + target.random() * 60 })
    await wait(1_000)
    proxy.set({ latencyMs: 0 })
  },
  /** Both nodes of a network fail and hang, and what is sent through them arrives late. */
  badNodes: async (target: FaultTarget) => {
    const relays = someRelays(target)
    for (const relay of relays) relay.set({ share: 0.4, late: 0.6 })
    await wait(800 + target.random() * 1_500)
    for (const relay of relays) relay.set({ share: 0, late: 0 })
  },
  /** One node of a network, or both of them, tell what was true a while ago. */
  staleNodes: async (target: FaultTarget) => {
    const relays = someRelays(target)
    const some = target.random() < 0.5 ? relays : relays.slice(0, 1)
    for (const relay of some) relay.set({ behind: 2 + Math.floor(target.random() * 20) })
    await wait(800 + target.random() * 1_500)
    for (const relay of some) relay.set({ behind: 0 })
  },
  /** Deep enough to take a payment away that the application has counted, when there is one that is not final yet. */
  reorg: (target: FaultTarget) => takeBack(target, ['seen', 'final'], FRESH_WITHIN_MS),
  /** The same with a payment that the application calls final too early; a correct one has none. */
  reorgOfFinal: (target: FaultTarget) => takeBack(target, ['final'], FINAL_WITHIN_MS),
} as const satisfies Record<string, (target: FaultTarget) => Promise<unknown>>

/** Two faults may happen at once, but a server that is down is not injected again. */
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
  /** Whether the time has come for the next target, when there were so many. */
  readonly isDue: (injected: number) => boolean
}

/** Strikes every half second at most, by its own dice; reorganisations come at the given strikes. */
export function startFaultInjector(
  target: FaultTarget,
  { faults = EVERY, reorgs = 4, isDue }: FaultInjectorSettings,
) {
  const { random } = target
  const counts = new Map<FaultName, number>()
  const lasting = new Map<FaultName, Promise<unknown>>()
  const end = new AbortController()
  let failure: unknown
  let injected = 0

  const begin = (name: FaultName) => {
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const work = FAULTS[name](target)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => lasting.delete(name))
    lasting.set(name, work)
    return work
  }
  const injecting = (async () => {
    const reorgAt = new Set(Array.from({ length: reorgs }, (_, n) => 2 + 4 * n))
    while (!end.signal.aborted) {
      await wait(LEAST_PAUSE_MS + random() * MORE_PAUSE_MS)
      if (end.signal.aborted) return
      const name = reorgAt.has(injected) ? 'reorg' : pick(faults, random)
      if (lasting.has(name) || !isDue(injected)) continue
      injected++
      const work = begin(name)
      if (ALONE.has(name)) await work
    }
  })()
  return {
    injected: () => injected,
    counts: () => Object.fromEntries(counts),
    /** No more strikes; ends when the last one is over. */
    async calm(): Promise<void> {
      end.abort()
      await injecting
      await Promise.all(lasting.values())
      if (failure !== undefined) throw failure
    },
  }
}
