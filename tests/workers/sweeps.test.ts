import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Db } from '@market/database/transact'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { until } from '../support/until.ts'

const SCRIPT = fileURLToPath(new URL('./recording-worker.ts', import.meta.url))
const LONG = { withinMs: 120_000 }
const WORK_MS = 300

interface Run {
  readonly id: number
  readonly pid: number
  readonly began: number
  readonly ended: number | null
}

/** Workers in processes of their own, and the runs that they recorded. */
async function recordRuns(database: { readonly db: Db; readonly url: string }) {
  const { db, url } = database
  await sql`create table sweep_runs (
    id bigserial primary key, pid integer not null, began_at timestamptz not null, ended_at timestamptz
  )`.execute(db)
  await sql`create table sweep_work (pid integer primary key, ms integer not null)`.execute(db)
  await sql`insert into sweep_work values (0, ${WORK_MS})`.execute(db)
  const output: string[] = []
  const startWorker = async (): Promise<ChildProcess & { pid: number }> => {
    const child = fork(SCRIPT, { execArgv: [], env: { ...process.env, DATABASE_URL: url }, silent: true })
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk.toString()))
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    await once(child, 'message')
    return Object.assign(child, { pid: child.pid ?? 0 })
  }
  const runs = async (): Promise<Run[]> => {
    const { rows } = await sql<Run>`
      select id::int4 as id, pid, extract(epoch from began_at)::float8 as began,
        extract(epoch from ended_at)::float8 as ended
      from sweep_runs order by id`.execute(db)
    return rows
  }
  /** How long the runs of one process take; of all, when it is 0. */
  const setWork = (pid: number, ms: number) =>
    sql`insert into sweep_work values (${pid}, ${ms}) on conflict (pid) do update set ms = excluded.ms`.execute(
      db,
    )
  const ended = async () => (await runs()).filter(({ ended }) => ended !== null).length
  const untilMore = async (count: number, what: string) => {
    const before = await ended()
    await until(`${count} more runs ended ${what}`, async () => (await ended()) >= before + count, LONG)
  }
  /** How often a worker was taken for dead. It can also happen to one that only has too little processor time. */
  const released = () => output.join('').split('released the jobs of dead workers').length - 1
  return { db, startWorker, runs, setWork, untilMore, released }
}

/** Pairs of runs of which one began before the other had ended. */
const overlapping = (runs: readonly Run[]): (readonly [number, number])[] =>
  runs.flatMap((one) =>
    runs
      .filter((other) => other.began > one.began && other.began < (one.ended ?? Infinity))
      .map((other) => [one.id, other.id] as const),
  )

async function inTestDatabase() {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  return recordRuns(database)
}

test('sweeps: of two workers one runs a sweep at a time, at most once in each interval', async () => {
  const { startWorker, runs, untilMore, released, db } = await inTestDatabase()
  const workers = await Promise.all([startWorker(), startWorker()])
  await untilMore(8, 'at two workers')
  // Both run every sweep when they start, so the intervals are counted from here.
  const { rows } = await sql<{
    now: number
  }>`select extract(epoch from clock_timestamp())::float8 as now`.execute(db)
  const recorded = await runs()
  expect(overlapping(recorded).length).toBeLessThanOrEqual(released())
  const [first] = recorded
  expect(recorded.length - workers.length).toBeLessThanOrEqual(
    Math.ceil((rows[0]?.now ?? 0) - (first?.began ?? 0)) + 1,
  )
})

test('sweeps: a run that takes longer than the interval does not pile up', async () => {
  const { startWorker, runs, setWork, untilMore, released, db } = await inTestDatabase()
  await setWork(0, 2_500)
  await Promise.all([startWorker(), startWorker()])
  await untilMore(3, 'of 2.5 s each')
  expect(overlapping(await runs()).length).toBeLessThanOrEqual(released())
  const { rows } = await sql<{ count: number }>`
    select count(*)::int4 as count from graphile_worker.jobs where key = 'record-run'`.execute(db)
  expect(rows[0]?.count).toBeLessThanOrEqual(1)
})

test('sweeps: when a worker is killed in the middle of a run, another one runs the sweep again', async () => {
  const { startWorker, runs, setWork, untilMore } = await inTestDatabase()
  const first = await startWorker()
  await setWork(first.pid, 3_600_000)
  await until('it is in a run that does not end', async () => (await runs()).at(-1)?.ended === null)
  await startWorker()
  const before = (await runs()).length
  first.kill('SIGKILL')
  await once(first, 'exit')
  const killedAt = performance.now()
  await until('another run began', async () => (await runs()).length > before, LONG)
  process.stdout.write(`the next run began ${Math.round(performance.now() - killedAt)} ms after the kill\n`)
  await untilMore(3, 'at the other worker')
})

test('sweeps: a worker that stood still and continues ends its run and starts no second one', async () => {
  const { startWorker, runs, setWork, untilMore, released } = await inTestDatabase()
  const first = await startWorker()
  await setWork(first.pid, 3_600_000)
  await until('it is in a run that does not end', async () => (await runs()).at(-1)?.ended === null)
  await startWorker()
  first.kill('SIGSTOP')
  await until('its jobs were released', () => released() > 0, LONG)
  await untilMore(3, 'at the other worker')
  const others = (await runs()).filter(({ pid }) => pid !== first.pid).length
  expect(others).toBeGreaterThanOrEqual(3)
  const stalled = (await runs()).filter(({ pid }) => pid === first.pid).map(({ id }) => id)
  const before = released()
  await setWork(first.pid, WORK_MS)
  first.kill('SIGCONT')
  await until(
    'the run that stood still ended',
    async () => (await runs()).every(({ id, ended }) => !stalled.includes(id) || ended !== null),
    LONG,
  )
  await untilMore(5, 'at two workers')
  const later = (await runs()).filter(({ id }) => !stalled.includes(id))
  expect(overlapping(later).length).toBeLessThanOrEqual(released() - before)
})

test('sweeps: continue after a crash of Postgres', async () => {
  const postgres = await startOwnPostgres()
  onTestFinished(() => postgres.stop())
  const { startWorker, untilMore } = await recordRuns(postgres)
  await Promise.all([startWorker(), startWorker()])
  await untilMore(2, 'before the crash')
  await postgres.crashAndRestart()
  const restartedAt = performance.now()
  await untilMore(1, 'after the crash')
  process.stdout.write(
    `the next run ended ${Math.round(performance.now() - restartedAt)} ms after the restart\n`,
  )
  await untilMore(5, 'after the crash')
})
