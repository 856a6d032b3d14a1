import { openPool } from '@market/database/connect'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { measure } from './bench-pair.ts'
import { median, report } from './bench-report.ts'
import { startSharedCache } from './bench-shared-cache.ts'
import { fillWithListings, searchesFor } from './many-listings.ts'
import { withPostgresCpu } from './postgres-cpu.ts'

/** Public reads of many clients at once: read each time, kept by the process, and behind nginx where `SHARED_CACHE` is set. */
const LISTINGS = Number(process.env['LISTINGS'] ?? 10_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const SECONDS = Number(process.env['SECONDS'] ?? 4)
const WARM_UP_SECONDS = 3
const CONNECTIONS = 32
const SEARCHES = 20
const PAGES = 20

const parts = await startParts({ REQUESTS_PER_SECOND: '100000', DATABASE_POOL: '10' })
const pool = openPool({ url: parts.database.url, maxConnections: 1 })

const get = (path: string) => ({ path })

async function loadsOf() {
  const { rows } = await pool.query<{ id: string; agent_id: string }>(
    'select id, agent_id from listings where active order by id limit $1',
    [PAGES],
  )
  const searches = searchesFor(SEARCHES, LISTINGS).map((words) =>
    get(`/api/services?search=${encodeURIComponent(words)}`),
  )
  const first = get('/api/services')
  const mixed = [
    ...searches,
    ...Array.from({ length: 10 }, () => first),
    ...['cheapest', 'newest', 'rating'].map((sort) => get(`/api/services?sort=${sort}`)),
    ...rows.flatMap(({ id, agent_id }) => [get(`/api/services/${id}`), get(`/api/agents/${agent_id}`)]),
    ...['/api/agents', '/api/bounties', '/api/platform-stats', '/api/models'].map(get),
  ]
  return { [`${SEARCHES} searches`]: searches, 'the first page': [first], 'a mix of public reads': mixed }
}

const apis = {
  'read each time': await startApi({ ...parts.environment, SHARED_READ_MS: '0' }),
  'kept for a second': await startApi({ ...parts.environment, SHARED_READ_MS: '1000' }),
}
const { 'kept for a second': keeping } = apis
const nginx = process.env['SHARED_CACHE'] === undefined ? undefined : await startSharedCache(keeping.url)
try {
  await fillWithListings(parts.database.url, LISTINGS)
  const targets = [
    ...Object.entries(apis).map(([name, { url }]) => ({ name, url, program: url })),
    ...(nginx === undefined ? [] : [{ name: 'behind nginx', url: nginx.url, program: keeping.url }]),
  ]
  for (const [load, requests] of Object.entries(await loadsOf())) {
    const sent = { requests, status: 200, connections: CONNECTIONS }
    const figures = new Map(
      targets.map(({ name }) => [
        name,
        { perSecond: [] as number[], cpu: [] as number[], postgres: [] as number[] },
      ]),
    )
    for (const { url, program } of targets) await measure(url, sent, WARM_UP_SECONDS, program)
    for (let round = 0; round < ROUNDS; round++)
      for (const { name, url, program } of targets) {
        const { result, cpuMs } = await withPostgresCpu(parts.database.url, () =>
          measure(url, sent, SECONDS, program),
        )
        const figure = figures.get(name)
        figure?.perSecond.push(result.perSecond)
        figure?.cpu.push(result.cpuMicros)
        figure?.postgres.push((cpuMs * 1_000) / (result.perSecond * SECONDS))
      }
    report(
      [...figures].map(([name, { perSecond, cpu, postgres }]) => ({
        what: `${load}, ${LISTINGS} services, ${name}`,
        measured: `${median(perSecond).toFixed(0)} a second (${Math.min(...perSecond).toFixed(0)} to ${Math.max(...perSecond).toFixed(0)})`,
        aim: name === 'behind nginx' ? '2,000 a second' : '',
        cpu: `${median(cpu).toFixed(0)} µs, Postgres ${median(postgres).toFixed(0)} µs`,
      })),
    )
  }
} finally {
  await nginx?.stop()
  await Promise.all(Object.values(apis).map((api) => api.stop()))
  await pool.end()
  await parts.stop()
}
