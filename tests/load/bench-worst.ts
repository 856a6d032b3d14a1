import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openPool } from '@market/database/connect'
import { message, toolCall } from '../mcp/raw-messages.ts'
import { client } from '../support/client.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { startBare } from './bench-pair.ts'
import { type BenchRow, median, report } from './bench-report.ts'

/**
 * The worst requests that the limits allow from one address, beside an honest reader: processor time as a ratio to a bare
 * route with the same bytes, and the reader's median with and without the attack.
 */
const SERVICES = Number(process.env['SERVICES'] ?? 200)
const ROUNDS = Number(process.env['ROUNDS'] ?? 20)
const READS = Number(process.env['READS'] ?? 40)

const WIDE = '🎨'
/** A service whose fields have nearly 16 KB of JSON, the largest that is accepted. */
const LARGEST = {
  title: WIDE.repeat(80),
  description: WIDE.repeat(1_000),
  deliverables: Array.from({ length: 10 }, () => WIDE.repeat(120)),
  requirement_fields: [0, 1].map((at) => ({
    label: `Field ${at}`,
    type: 'select',
    options: Array.from({ length: 30 }, (_, n) => `${n}${WIDE.repeat(26)}`),
  })),
}

const parts = await startParts()
const api = await startApi({
  ...parts.environment,
  DATABASE_URL: parts.database.url,
})
const bare = await startBare('./bench-bare-bytes.ts', [])
const market = { client: () => client(api.url) } as unknown as Market

interface Attack {
  readonly what: string
  readonly path: string
  readonly body?: unknown
}

interface Attacker {
  readonly bearer: string
  readonly address: string
}

let attackers = 0
/** One with a key and an address whose limits are not used up. */
async function makeAttacker(): Promise<Attacker> {
  const { apiKey } = await makeOwnedAgent(market)
  return { bearer: apiKey, address: `203.0.${113 + Math.floor(attackers / 250)}.${attackers++ % 250}` }
}

function requestOf({ path, body }: Attack, { bearer, address }: Attacker) {
  return {
    url: `${api.url}${path}`,
    headers: {
      authorization: `Bearer ${bearer}`,
      'x-forwarded-for': address,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

async function send(attack: Attack, attacker: Attacker) {
  const { url, ...request } = requestOf(attack, attacker)
  const response = await fetch(url, { method: attack.body === undefined ? 'GET' : 'POST', ...request })
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
}

/** Another process repeats the attack until the returned function is called, which returns how many were rejected. */
async function startAttack(attack: Attack, attacker: Attacker): Promise<() => Promise<number>> {
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./bench-attacker.ts', import.meta.url)),
      JSON.stringify(requestOf(attack, attacker)),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return async () => {
    child.kill('SIGTERM')
    const { value } = await lines.next()
    await exited
    return Number(value)
  }
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
}

/** Milliseconds of processor time of one call. */
async function cpuOf(url: string, times: number, call: () => Promise<unknown>): Promise<number> {
  await call()
  const before = await cpuSeconds(url)
  for (let n = 0; n < times; n++) await call()
  return (((await cpuSeconds(url)) - before) / times) * 1_000
}

/** The times of an honest reader, in milliseconds. */
async function readerTimes(reads = READS): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < reads; n++) {
    const at = performance.now()
    const { status } = await client(api.url).get('/api/agents?limit=20')
    if (status !== 200) throw new Error(`the reader got ${status}`)
    times.push(performance.now() - at)
  }
  return times
}

interface Beside {
  readonly quiet: number
  readonly attacked: number
  readonly rejected: number
}

/**
 * The reader while one connection repeats the attack without a pause, and without it. They alternate, so that other work of
 * the machine slows both.
 */
async function besideAttack(attack: Attack): Promise<Beside> {
  const quiet: number[] = []
  const attacked: number[] = []
  let rejected = 0
  for (let n = 0; n < ROUNDS; n++) {
    const attacker = await makeAttacker()
    quiet.push(...(await readerTimes()))
    const stop = await startAttack(attack, attacker)
    attacked.push(...(await readerTimes()))
    rejected += await stop()
  }
  return { quiet: median(quiet), attacked: median(attacked), rejected }
}

const inBatch = (one: (id: number) => unknown) => Array.from({ length: 10 }, (_, at) => one(at + 1))

const attacksOn = (sellerId: string): readonly Attack[] => [
  // What one more busy connection does to the reader, whatever it asks for.
  { what: 'GET /api/config', path: '/api/config' },
  { what: 'GET /api/services?limit=100', path: '/api/services?limit=100' },
  { what: 'GET /api/x402/services?limit=200', path: '/api/x402/services?limit=200' },
  { what: 'GET /openapi.json', path: '/openapi.json' },
  {
    what: 'a batch of 10 market_list_services',
    path: '/mcp',
    body: inBatch((id) => toolCall('market_list_services', { agent_id: sellerId, limit: 100 }, id)),
  },
  {
    what: 'a batch of 10 market_search_agents',
    path: '/mcp',
    body: inBatch((id) => toolCall('market_search_agents', { limit: 50 }, id)),
  },
  { what: 'a batch of 10 tools/list', path: '/mcp', body: inBatch((id) => message('tools/list', {}, id)) },
]

try {
  const seller = await makeOwnedAgent(market)
  const { id } = await makeService(market, seller, LARGEST)
  const pool = openPool({ url: parts.database.url, maxConnections: 1 })
  await pool.query(
    `insert into listings (id, agent_id, slug, category, title, description, price_type, price_micros, turnaround_hours,
      deliverables, demo_url, quota_limit, max_revisions, requirement_fields, active, marketable, created_at, updated_at)
    select 'svc_1700000000000_0' || lpad(n::text, 16, '0'), agent_id, 'copy-' || n, category, title, description, price_type,
      price_micros, turnaround_hours, deliverables, demo_url, quota_limit, max_revisions, requirement_fields, active,
      marketable, created_at, updated_at
    from listings cross join generate_series(2, $2::integer) as n where id = $1`,
    [id, SERVICES],
  )
  await pool.end()
  await readerTimes()
  const rows: BenchRow[] = []
  for (const attack of attacksOn(seller.id)) {
    let attacker = await makeAttacker()
    const { bytes, status } = await send(attack, attacker)
    if (status !== 200) throw new Error(`${attack.what} got ${status}`)
    const ours = await cpuOf(api.url, ROUNDS, () => {
      attacker = { ...attacker, address: `198.51.100.${attackers++ % 250}` }
      return send(attack, attacker)
    })
    const theirs = await cpuOf(bare.url, ROUNDS, async () =>
      (await fetch(`${bare.url}/?bytes=${bytes}`)).arrayBuffer(),
    )
    const { quiet, attacked, rejected } = await besideAttack(attack)
    rows.push({
      what: `${attack.what}: ${(bytes / 1024).toFixed(0)} KB`,
      measured: `reader ${(attacked / quiet).toFixed(2)} × (${quiet.toFixed(1)} to ${attacked.toFixed(1)} ms), ${rejected} rejected`,
      aim: 'reader 2 ×',
      cpu: `${ours.toFixed(1)} ms, bare ${theirs.toFixed(1)} ms, ${(ours / theirs).toFixed(1)} times`,
    })
  }
  report(rows)
} finally {
  bare.stop()
  api.kill('SIGTERM')
  await api.exited
  await parts.stop()
}
