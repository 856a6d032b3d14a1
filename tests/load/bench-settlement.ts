import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ServerProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type BenchRow, report } from './bench-report.ts'
import { byMethod, type Counts, callsIn, sending, since, sumOf } from './counting-proxy.ts'
import { cpuMsOf, withPostgresCpu } from './postgres-cpu.ts'
import { type PaidNetwork, startSettlement } from './settlement-market.ts'

/** Orders from their creation to their final payout, with blocks and finality as on Base. For docs/operations/scale.md. */
const ORDERS = Number(process.env['ORDERS'] ?? 200)
/** Beside them, on Solana. */
const SOLANA_ORDERS = Number(process.env['SOLANA_ORDERS'] ?? ORDERS / 10)
/** Orders that begin in a second. */
const PER_SECOND = Number(process.env['PER_SECOND'] ?? 10)
const WORKERS = Number(process.env['WORKERS'] ?? 2)
/** How long nothing is done but reading, with each number of workers; 0 leaves this out. */
const IDLE_MS = Number(process.env['IDLE_MS'] ?? 60_000)
const IDLE_WORKERS = [1, 4]
/** Two epochs of 32 slots: a block is final 128 s later. */
const SLOTS = Number(process.env['SLOTS'] ?? 32)
const BLOCK_MS = 2_000
const SLOT_MS = 400
/** Prints each kind of request. */
const TOP = Number(process.env['TOP'] ?? 0)
/** A new database is compared with the chain, and all sweeps have run. */
const SETTLE_MS = 20_000
/** Who buys or sells often is slower: their events are numbered. */
const PEOPLE = { buyers: Math.ceil(ORDERS / 4), sellers: Math.ceil(ORDERS / 10) }
const WITHIN_MS = 1_800_000

const finality = `${(2 * SLOTS * BLOCK_MS) / 1_000} s finality, two providers`
const pace = { blockMs: BLOCK_MS, slotsInAnEpoch: SLOTS, slotTimeMs: SLOT_MS }
const world = await startSettlement(pace, PEOPLE)
const { market } = world
const workers: ServerProcess[] = []

const row = (what: string, measured: string, aim = '', cpu = ''): BenchRow => ({ what, measured, aim, cpu })
const workerCounts = (network: PaidNetwork): Counts => sumOf(world.counts(network).workers)
const NETWORKS = ['base-mainnet', 'solana-mainnet'] as const

async function measureIdle(count: number): Promise<BenchRow[]> {
  while (workers.length < count) workers.push(await world.startWorker())
  await wait(SETTLE_MS)
  const before = NETWORKS.map(workerCounts)
  await wait(IDLE_MS)
  return NETWORKS.map((network, n) => {
    const asked = since(before[n] ?? new Map(), workerCounts(network))
    print(`idle, ${count} workers, ${network}`, asked, IDLE_MS / 1_000)
    const perSecond = callsIn(asked) / (IDLE_MS / 1_000)
    return row(`idle calls a second, ${network}, ${count} workers, ${finality}`, perSecond.toFixed(2), '3')
  })
}

/** How many payouts are final, and the time from the first to the last. */
async function finalPayouts() {
  const { rows } = await sql<{ network: PaidNetwork; count: number; seconds: number }>`
    select network, count(*)::int as count, extract(epoch from max(updated_at) - min(updated_at))::float8 as seconds
    from payouts where state = 'final' group by network`.execute(market.db)
  return (network: PaidNetwork) => rows.find((one) => one.network === network) ?? { count: 0, seconds: 0 }
}

async function measureOrders(): Promise<BenchRow[]> {
  const counts = { 'base-mainnet': ORDERS, 'solana-mainnet': SOLANA_ORDERS }
  const before = NETWORKS.map(world.counts)
  const programs = { api: [world.apiPid], workers: workers.map(({ pid }) => pid) }
  const cpu = () =>
    Object.values(programs).map((pids) => pids.reduce((sum, pid) => sum + (cpuMsOf(pid) ?? 0), 0))
  const cpuBefore = cpu()
  const total = ORDERS + SOLANA_ORDERS
  const errors: unknown[] = []
  let approvedMs = 0
  const { tookMs, cpuMs } = await withPostgresCpu(market.database.url, async () => {
    const began = performance.now()
    const start = (network: PaidNetwork) =>
      Array.from({ length: counts[network] }, async (_, n) => {
        await wait((n / counts[network]) * (total / PER_SECOND) * 1_000)
        await world.live(network, n).catch((error: unknown) => errors.push(error))
        approvedMs = performance.now() - began
      })
    const all = Promise.all(NETWORKS.flatMap(start))
    await until(
      'every payout is final',
      async () => {
        const final = await finalPayouts()
        const [base, solana] = NETWORKS.map((network) => final(network).count)
        if (Math.round(performance.now() / 1_000) % 10 === 0)
          console.log(
            `${((performance.now() - began) / 1_000).toFixed(0)} s: ${base} and ${solana} payouts are final`,
          )
        return errors.length > 0 || (base === ORDERS && solana === SOLANA_ORDERS)
      },
      { withinMs: WITHIN_MS, everyMs: 1_000 },
    )
    await all
  })
  if (errors.length > 0) throw new AggregateError(errors, String(errors[0]))
  const final = await finalPayouts()
  const [apiMs = 0, workersMs = 0] = cpu().map((ms, n) => ms - (cpuBefore[n] ?? 0))
  const each = (ms: number) => `${(ms / total).toFixed(1)} ms`
  const rpc = NETWORKS.flatMap((network, n) => {
    const [now, then] = [world.counts(network), before[n]]
    const asked = since(sumOf(then?.workers ?? []), sumOf(now.workers))
    const byApi = since(sumOf(then?.api ?? []), sumOf(now.api))
    print(`${network}, workers`, asked, counts[network])
    print(`${network}, api`, byApi, counts[network])
    const per = (calls: number) => (calls / counts[network]).toFixed(2)
    const [all, sends] = [callsIn(asked), callsIn(sending(asked))]
    const raw = byMethod(asked).find(([method]) =>
      /^(?:eth_sendRawTransaction|sendTransaction)$/.test(method),
    )
    return [
      row(
        `calls of the workers per order without those that send, ${network}, ${counts[network]} orders in ${(tookMs / 1_000).toFixed(0)} s, ${finality}`,
        per(all - sends),
        ORDERS >= 2_000 ? '2' : '6',
      ),
      row(`with those that send, ${network}`, `${per(all)}; ${per(raw?.[1] ?? 0)} of them transactions`),
      row(`calls of the api per order, ${network}`, per(callsIn(byApi))),
    ]
  })
  const paidIn = final('base-mainnet').seconds
  const slowest = Math.max(approvedMs / 1_000, paidIn)
  return [
    ...rpc,
    row(
      `Postgres per order, creation to final payout (${total})`,
      each(cpuMs),
      '70 ms',
      `api ${each(apiMs)}, workers ${each(workersMs)}`,
    ),
    row(
      `orders a second, created to finally paid out, ${PER_SECOND} begun a second, ${WORKERS} workers`,
      `${(total / slowest).toFixed(1)}: approved in ${(approvedMs / 1_000).toFixed(0)} s, the ${ORDERS} payouts on Base final within ${paidIn.toFixed(0)} s`,
      '10',
    ),
  ]
}

function print(what: string, counts: Counts, per: number): void {
  console.log(
    `\n${what}: ${byMethod(counts)
      .map(([method, calls]) => `${method} ${(calls / per).toFixed(2)}`)
      .join(', ')}`,
  )
  for (const [methods, count] of [...counts].toSorted(([, a], [, b]) => b - a).slice(0, TOP))
    console.log(`  ${(count / per).toFixed(3)} × ${methods}`)
}

try {
  const rows: BenchRow[] = []
  if (IDLE_MS > 0) for (const count of IDLE_WORKERS) rows.push(...(await measureIdle(count)))
  while (workers.length < WORKERS) workers.push(await world.startWorker())
  for (const worker of workers.splice(WORKERS)) worker.kill('SIGTERM')
  await wait(SETTLE_MS)
  rows.push(...(await measureOrders()))
  report(rows)
} finally {
  await world.stop()
}
