import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { emit } from '@market/core/events'
import type { AgentId } from '@market/kernel/ids'
import { sql } from 'kysely'
import { startWorker } from '../support/processes.ts'
import { startReceiverProcess } from '../support/receiver-process.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/webhook-world.ts'
import { median, report, spread } from './bench-report.ts'

/** How many webhooks a second our worker delivers beside the job engine that does nothing but post them. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const WEBHOOKS = Number(process.env['WEBHOOKS'] ?? 1_000)
const AGENTS = 50
const SETTINGS = { JOB_CONCURRENCY: '50', DATABASE_POOL: '10' }
const DATA = { payout_failed: false }

interface Measured {
  readonly perSecond: number
  readonly cpuMicros: number
  /** TLS connections that the endpoints accepted. */
  readonly connections: number
}

const receiver = await startReceiverProcess()
const world = await startWorld({ receiver })
const { db, ctx, environment } = world
const agents: { id: AgentId; url: string }[] = []
for (let n = 0; n < AGENTS; n++) {
  const { agent } = await world.agent(`e${n}.hooks.example`)
  agents.push({ id: agent.id, url: agent.endpointUrl ?? '' })
}

const targets = Array.from(
  { length: WEBHOOKS },
  (_, n) => agents[n % AGENTS] ?? { id: 'agt_' as AgentId, url: '' },
)

/** Commits the work at once, waits until all of it has arrived, and sees how long that took. */
async function measure(cpuSeconds: () => Promise<number>, commit: () => Promise<void>): Promise<Measured> {
  await receiver.report()
  const cpuBefore = await cpuSeconds()
  await commit()
  const began = Date.now()
  let lastAt = began
  let arrived = 0
  let connections = 0
  await until(
    'all have arrived',
    async () => {
      const { calls, ...opened } = await receiver.report()
      arrived += calls.length
      connections += opened.connections
      lastAt = Math.max(lastAt, ...calls.map(([, at]) => at))
      return arrived >= WEBHOOKS
    },
    { withinMs: 120_000, everyMs: 100 },
  )
  await until('nothing is left to do', async () => {
    const { rows } = await sql`
      select 1 from graphile_worker.jobs where task_identifier in ('deliver-events', 'post') limit 1`.execute(
      db,
    )
    return rows.length === 0
  })
  const cpuAfter = await cpuSeconds()
  return {
    perSecond: WEBHOOKS / ((lastAt - began) / 1_000),
    cpuMicros: ((cpuAfter - cpuBefore) / WEBHOOKS) * 1e6,
    connections,
  }
}

async function measureOurs(): Promise<Measured> {
  const profile = process.env['PROFILE']
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const worker = await startWorker({ ...environment, ...SETTINGS }, { nodeOptions })
  const cpuSeconds = async () => {
    const text = await (await fetch(`${worker.url}/metrics`)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
  }
  try {
    return await measure(cpuSeconds, () =>
      ctx.transact(async (tx) => {
        for (const { id } of targets)
          await emit(ctx, tx, {
            agentId: id,
            event: 'order.completed',
            orderId: `ord_${randomUUID()}`,
            data: DATA,
          })
      }),
    )
  } finally {
    worker.kill('SIGTERM')
    await worker.exited
  }
}

async function measureBare(): Promise<Measured> {
  const script = fileURLToPath(new URL('./bench-bare-worker.ts', import.meta.url))
  const child = fork(script, { env: { ...process.env, ...environment, ...SETTINGS }, execArgv: [] })
  await once(child, 'message')
  const cpuSeconds = async () => {
    child.send('cpu')
    const [seconds] = (await once(child, 'message')) as [number]
    return seconds
  }
  const jobs = targets.map(({ id, url }) => {
    const body = JSON.stringify({ event: 'order.completed', order_id: `ord_${randomUUID()}`, data: DATA })
    const headers = {
      'Content-Type': 'application/json',
      'X-Market-Event': 'order.completed',
      'X-Market-Agent-Id': id,
      'X-Market-Delivery-Id': randomUUID(),
      'X-Market-Signature': `t=1700000000,v1=${'0'.repeat(64)}`,
    }
    return { identifier: 'post', payload: { url, headers, body } }
  })
  try {
    return await measure(cpuSeconds, async () => {
      await sql`
        select graphile_worker.add_job('post', payload := (job->'payload')::json)
        from jsonb_array_elements(${JSON.stringify(jobs)}::jsonb) as job`.execute(db)
    })
  } finally {
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  }
}

try {
  const rounds: { ours: Measured; bare: Measured }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await measureBare()
    const ours = await measureOurs()
    rounds.push({ ours, bare })
    const say = ({ perSecond, cpuMicros, connections }: Measured) =>
      `${perSecond.toFixed(0)}/s ${cpuMicros.toFixed(0)} µs ${connections} connections`
    console.log(`round ${round + 1}: ours ${say(ours)}, bare ${say(bare)}`)
  }
  const micros = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of)).toFixed(0)
  const times = median(rounds.map(({ ours, bare }) => ours.cpuMicros / bare.cpuMicros))
  report([
    {
      what: 'delivered webhooks',
      measured: `${spread(rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond))} of the bare job engine`,
      aim: '0.8',
      cpu: `${micros(({ ours }) => ours.cpuMicros)} µs, bare ${micros(({ bare }) => bare.cpuMicros)} µs, ${times.toFixed(2)} times`,
    },
  ])
} finally {
  await world.stop()
  await receiver.stop()
}
