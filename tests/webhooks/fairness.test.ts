import { readFileSync } from 'node:fs'
import type { AgentId } from '@market/kernel/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withPostgresCpu } from '../load/postgres-cpu.ts'
import { MEASURES_TIME } from '../support/measured.ts'
import type { ServerProcess } from '../support/processes.ts'
import { startReceiverProcess } from '../support/receiver-process.ts'
import { percentile } from '../support/until.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

/**
 * With FAIRNESS_PER_SECOND this is a measurement: it compares the first attempts to healthy endpoints with and without
 * bad endpoints beside them, and prints the ratio. FAIRNESS_PROFILE=<folder> writes the worker's CPU profile there.
 */
const EVENTS = Number(process.env['FAIRNESS_EVENTS'] ?? 800)
const PER_SECOND = Number(process.env['FAIRNESS_PER_SECOND'] ?? 40)
/** Runs with and without bad endpoints take turns, so that other load on the machine falls on both. */
const ROUNDS = Number(process.env['FAIRNESS_ROUNDS'] ?? 1)
const PROFILE = process.env['FAIRNESS_PROFILE']
const ENDPOINTS = 200
const BAD_OF_EACH_KIND = 20
const TICK_MS = 50
const TIMEOUT_MS = 60_000 + EVENTS * 25

let receiver: Awaited<ReturnType<typeof startReceiverProcess>>
let world: WebhookWorld
let worker: ServerProcess
beforeAll(async () => {
  receiver = await startReceiverProcess()
  world = await startWorld({ receiver })
  worker = await world.worker({
    DATABASE_POOL: '20',
    ...(PROFILE !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${PROFILE}` }),
  })
})
afterAll(async () => {
  // A process killed with SIGKILL writes no profile.
  worker.kill('SIGTERM')
  await worker.exited
  await world.stop()
  await receiver.stop()
})

interface Endpoint {
  readonly kind: string
  readonly id: AgentId
}

async function makeEndpoints(badOfEachKind: number, run: string): Promise<Endpoint[]> {
  const bad = ['hang', 'fail', 'shut'].flatMap((kind) => Array<string>(badOfEachKind).fill(kind))
  const good = Array<string>(ENDPOINTS - bad.length).fill('good')
  const endpoints: Endpoint[] = []
  for (const kind of [...bad, ...good]) {
    const { agent } = await world.agent(`${kind}-${run}-${endpoints.length}.hooks.example`)
    endpoints.push({ kind, id: agent.id })
  }
  return endpoints
}

interface Ended {
  readonly kind: string
  readonly ended: string
  readonly delayMs: number
}

let sent = 0

/** Emits events to the endpoints in turn at a constant rate, and waits until each delivery has ended. */
async function send(endpoints: readonly Endpoint[], count: number): Promise<void> {
  const startedAt = performance.now()
  const emitted: Promise<unknown>[] = []
  while (emitted.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1_000) * PER_SECOND))
    for (let n = emitted.length; n < due; n++) {
      const endpoint = endpoints[n % ENDPOINTS]
      if (endpoint !== undefined)
        emitted.push(world.emit(endpoint.id, 'order.completed', { payout_failed: false }, `ord_${sent + n}`))
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  await Promise.all(emitted)
  sent += count
  await world.ended(sent, TIMEOUT_MS)
}

/** On a busy machine, an attempt may time out before its request arrives. */
const DELIVERED = MEASURES_TIME ? /^delivered after 1, seen 1$/ : /^delivered after [123], seen [123]$/
const DROPPED = MEASURES_TIME ? /^dropped after 3, seen 3$/ : /^dropped after 3, seen [0123]$/

/** The results of deliveries to these endpoints that were created since the given time. */
async function endedSince(
  since: Date,
  endpoints: readonly Endpoint[],
  calls: readonly (readonly [id: string, at: number])[],
): Promise<Ended[]> {
  const arrivals = Map.groupBy(calls, ([id]) => id)
  const kinds = new Map(endpoints.map(({ id, kind }) => [id as string, kind]))
  const rows = await world.db
    .selectFrom('deliveries')
    .innerJoin('events', (join) =>
      join.onRef('events.agent_id', '=', 'deliveries.agent_id').onRef('events.seq', '=', 'deliveries.seq'),
    )
    .select(['deliveries.id', 'deliveries.agent_id', 'deliveries.status', 'deliveries.attempts', 'events.at'])
    .where('deliveries.agent_id', 'in', [...kinds.keys()])
    .where('deliveries.created_at', '>=', since)
    .execute()
  return rows.map((row) => {
    const seen = arrivals.get(row.id) ?? []
    const first = Math.min(...seen.map(([, at]) => at))
    return {
      kind: kinds.get(row.agent_id) ?? '',
      ended: `${row.status} after ${row.attempts}, seen ${seen.length}`,
      delayMs: first - row.at.getTime(),
    }
  })
}

const cpuMsOfProcess = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** One run, with the CPU time of each process per event. */
async function run(endpoints: readonly Endpoint[], count: number) {
  const before = { since: new Date(), receiver: await receiver.report(), worker: cpuMsOfProcess(worker.pid) }
  const { cpuMs: postgres } = await withPostgresCpu(world.environment['DATABASE_URL'] ?? '', () =>
    send(endpoints, count),
  )
  const after = await receiver.report()
  const cpu = {
    worker: (cpuMsOfProcess(worker.pid) - before.worker) / count,
    endpoints: (after.cpuMicros - before.receiver.cpuMicros) / 1_000 / count,
    postgres: postgres / count,
  }
  const ended = await endedSince(before.since, endpoints, after.calls)
  return { ended, cpu, calls: after.calls.length, connections: after.connections, resumed: after.resumed }
}

const p95OfGood = (ended: readonly Ended[]): number =>
  percentile(
    ended.filter(({ kind }) => kind === 'good').map(({ delayMs }) => delayMs),
    0.95,
  )

const summaryOf = (
  name: string,
  { ended, cpu, calls, connections, resumed }: Awaited<ReturnType<typeof run>>,
) =>
  `${name}: first attempts to healthy endpoints p95 ${p95OfGood(ended)} ms; ${calls} requests, ${connections} ` +
  `connections, ${resumed} resumed; CPU per event ${Object.entries(cpu)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`)
    .join(', ')}\n`

test(
  'fairness: endpoints that hang, fail or close get three attempts and healthy ones exactly one',
  async () => {
    const healthy = await makeEndpoints(0, 'healthy')
    const mixed = await makeEndpoints(BAD_OF_EACH_KIND, 'mixed')
    const alone: Ended[] = []
    const beside: Ended[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, endpoints, all] of [
        ['without bad endpoints', healthy, alone],
        ['with 60 bad endpoints', mixed, beside],
      ] as const) {
        const result = await run(endpoints, EVENTS / ROUNDS)
        process.stdout.write(summaryOf(name, result))
        all.push(...result.ended)
      }
    }
    for (const ended of [alone, beside]) {
      expect(ended).toHaveLength(EVENTS)
      const wrong = ended.filter((each) => !(each.kind === 'good' ? DELIVERED : DROPPED).test(each.ended))
      expect(wrong).toEqual([])
    }
    const ratio = p95OfGood(beside) / p95OfGood(alone)
    process.stdout.write(
      `p95 ${p95OfGood(alone)} ms and ${p95OfGood(beside)} ms, ratio ${ratio.toFixed(2)}\n`,
    )
  },
  3 * TIMEOUT_MS,
)
