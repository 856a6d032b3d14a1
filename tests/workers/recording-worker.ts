import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import { startSweepsNow } from '@market/core/queue'
import { connect, openPool } from '@market/database/connect'
import type { Db } from '@market/database/transact'
import { startRunner } from '@market/jobs/runner'
import { type Sweep, sweepEngine, sweepTicks } from '@market/jobs/start-sweeps'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { sql } from 'kysely'

/**
 * A process that runs the engine of the worker with one sweep, which records when each of its runs begins and ends. The sweep
 * takes as long as `sweep_work` says, so that a test can kill or stop the process in the middle of a run.
 */
const url = process.env['DATABASE_URL'] ?? ''
const connection = { url, timeoutFactor: TIMEOUT_FACTOR, onIdleError: () => {} }
const db = connect(connection)
const pool = openPool({ ...connection, maxConnections: 4, plainTypes: true, withoutFlush: true })

const record: Sweep<{ readonly db: Db }> = {
  name: 'record-run',
  everyMs: 1_000,
  does: 'Records its run',
  run: async (ctx) => {
    const { rows } = await sql<{ id: number }>`
      insert into sweep_runs (pid, began_at) values (${process.pid}, clock_timestamp()) returning id::int4 as id`.execute(
      ctx.db,
    )
    const workMs = async () =>
      (
        await sql<{
          ms: number
        }>`select ms from sweep_work where pid in (0, ${process.pid}) order by pid desc`.execute(ctx.db)
      ).rows[0]?.ms ?? 0
    const began = performance.now()
    while (performance.now() - began < (await workMs())) await wait(50)
    await sql`update sweep_runs set ended_at = clock_timestamp() where id = ${rows[0]?.id}`.execute(ctx.db)
  },
}

const write = (fields: object, message: string) =>
  void process.stderr.write(`${message} ${inspect(fields)}\n`)
const log = { warn: write, error: write }
const ctx = { db }
const settings = { ctx, sweeps: [record], log, onFailure: () => {} }
await startRunner({
  pool,
  ctx,
  engines: [sweepEngine(settings)],
  beatWork: sweepTicks(settings),
  log,
  onFailure: () => {},
})
await startSweepsNow(ctx, [record.name])
process.send?.('started')
// Without the test there is nobody to stop it.
process.once('disconnect', () => process.exit())
