import { type EventDataOf, type EventName, emit } from '@market/core/events'
import type { Db } from '@market/database/transact'
import type { Registered } from '@market/identity/agents'
import { systemClock } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { startDnsServer } from '@market/testing/dns-server'
import { testKeys } from '@market/testing/keys'
import { makeAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { TIMEOUT_FACTOR, testDatabase } from '@market/testing/postgres'
import { type ServerProcess, startWorker } from './processes.ts'
import { PUBLIC_ADDRESS } from './settings.ts'
import { until } from './until.ts'

interface WorldSettings {
  /** The server that receives requests to the public address. */
  readonly receiver: { readonly settings: Readonly<Record<string, string>> }
  /** The database to use; by default a new one on the shared server. */
  readonly database?: { readonly db: Db; readonly url: string; stop(): Promise<void> }
}

export type WebhookWorld = Awaited<ReturnType<typeof startWorld>>
export type EndpointOwner = NonNullable<Parameters<typeof makeAgent>[1]>['owner']

/** Agents, DNS names of their endpoints, and worker processes that deliver events. */
export async function startWorld({ receiver, database: given }: WorldSettings) {
  const database = given ?? (await testDatabase())
  const { db } = database
  const dns = await startDnsServer()
  const keys = testKeys()
  const clock = { ...systemClock, advance: () => {}, set: () => {} }
  const ctx = marketContext({ db, clock, resolver: dns.resolver, keys })
  const environment: Readonly<Record<string, string>> = {
    DATABASE_URL: database.url,
    DATABASE_POOL: '8',
    ...keys.both,
    ...keys.worker,
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    ...receiver.settings,
    LOG_LEVEL: 'info',
    // A job whose connection takes longer than the 2 seconds of the product fails, and is tried again ever later.
    TIMEOUT_FACTOR: String(TIMEOUT_FACTOR),
  }
  const workers = new Set<ServerProcess>()
  const stopWorkers = async () => {
    await Promise.all([...workers].map((worker) => worker.stop()))
  }
  const pending = async () =>
    (await db.selectFrom('deliveries').select('id').where('status', '=', 'pending').limit(1).execute()).length

  return {
    db,
    ctx,
    dns,
    environment,
    /** An agent whose endpoint is at this host, and has responded with 2xx before. */
    agent: async (host: string, owner: EndpointOwner = { kind: 'none' }): Promise<Registered> => {
      dns.answers.set(host, [PUBLIC_ADDRESS])
      const made = await makeAgent(ctx, { endpointUrl: `https://${host}/in`, owner })
      const endpoint_proven_at = clock.now()
      await db.updateTable('agents').set({ endpoint_proven_at }).where('id', '=', made.agent.id).execute()
      return made
    },
    emit: <Name extends EventName>(agentId: AgentId, event: Name, data: EventDataOf[Name], orderId = '') =>
      ctx.transact((tx) => emit(ctx, tx, { agentId, event, orderId, data })),
    worker: async (overrides: Readonly<Record<string, string>> = {}): Promise<ServerProcess> => {
      const worker = await startWorker({ ...environment, ...overrides })
      workers.add(worker)
      return worker
    },
    deliveriesOf: (agentId: AgentId) =>
      db.selectFrom('deliveries').selectAll().where('agent_id', '=', agentId).orderBy('seq').execute(),
    /** Waits until so many deliveries were made and each has ended. */
    ended: (count: number, withinMs: number): Promise<void> =>
      until(
        `${count} deliveries have ended`,
        async () => {
          if ((await pending()) > 0) return false
          const made = await db
            .selectFrom('deliveries')
            .select((select) => select.fn.countAll<bigint>().as('count'))
            .executeTakeFirstOrThrow()
          return Number(made.count) >= count
        },
        { withinMs, everyMs: 100 },
      ),
    stopWorkers,
    stop: async () => {
      await stopWorkers()
      await Promise.all([dns.stop(), database.stop()])
    },
  }
}
