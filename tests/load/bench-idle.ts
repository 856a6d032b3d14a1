import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'
import { createRoles } from '@market/database/roles'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { startPostgresServer } from '@market/testing/postgres-server'
import { sql } from 'kysely'
import { startWorker } from '../support/processes.ts'
import { report } from './bench-report.ts'
import { withPostgresCpu } from './postgres-cpu.ts'

/** What workers without anything to do cost Postgres, by their number. There is no network, so no chain is read. */
const WORKERS = [1, 4]
/** Connections plan a statement anew for its first five runs. */
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 60_000)
const MEASURE_MS = Number(process.env['MEASURE_MS'] ?? 60_000)
/** Prints the statements that take longest. */
const TOP = Number(process.env['TOP'] ?? 0)

const server = await startPostgresServer([
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.track_planning=on',
])
const db = connect({ url: server.url })
try {
  await createRoles(server.url)
  await migrate(server.url)
  await sql`create extension pg_stat_statements`.execute(db)
  const environment = { DATABASE_URL: server.url, ...newKeySettings().both }
  const statements = async () => {
    const { rows } = await sql<{ calls: number; ms: number; query: string }>`
      select calls::float8 as calls, total_exec_time + total_plan_time as ms,
        left(regexp_replace(query, '[[:space:]]+', ' ', 'g'), 100) as query
      from pg_stat_statements where query not like '%pg_stat%' order by ms desc`.execute(db)
    return rows
  }
  for (const count of WORKERS) {
    const workers = await Promise.all(Array.from({ length: count }, () => startWorker(environment)))
    await wait(SETTLE_MS)
    await sql`select pg_stat_statements_reset()`.execute(db)
    const { tookMs, cpuMs } = await withPostgresCpu(server.url, () => wait(MEASURE_MS))
    const rows = await statements()
    const seconds = tookMs / 1_000
    const perSecond = rows.reduce((sum, { calls }) => sum + calls, 0) / seconds
    for (const { calls, ms, query } of rows.slice(0, TOP))
      console.log(`${(calls / seconds).toFixed(2)} a second, ${(ms / seconds).toFixed(2)} ms: ${query}`)
    for (const worker of workers) await worker.stop()
    report([
      {
        what: `idle, ${count} worker${count === 1 ? '' : 's'}: statements a second`,
        measured: perSecond.toFixed(1),
        aim: '',
        cpu: `${(cpuMs / seconds).toFixed(1)} ms of Postgres a second`,
      },
    ])
  }
} finally {
  await db.destroy()
  await server.stop()
}
