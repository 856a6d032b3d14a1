import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { migrate } from '@market/database/migrate'
import { readMigrations } from '@market/database/migrations'
import { dropTestDatabase, newTestDatabaseName, postgresUrl } from '@market/testing/template-database'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type JourneyWorld, startJourneys } from '../journeys/order-journeys.ts'
import { currentBundle } from '../support/bundle.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { RUNBOOKS, read } from './alerts.ts'
import { expandSteps } from './expand-steps.ts'

const LONG = { withinMs: 120_000, everyMs: 200 }
const page = read(`${RUNBOOKS}/restore.md`)
const [, backup = '', restore = ''] = /```sh\n# backup\n([^`]+)# restore\n([^`]+)```/.exec(page) ?? []
const CHECKS = [...page.matchAll(/^```sql\n([^`]+)```/gm)].map(([, statement = '']) => statement)

let world: JourneyWorld
beforeAll(async () => {
  world = await startJourneys({ networks: ['base-mainnet'] })
})
afterAll(() => world?.stop())

async function completeOrder() {
  const order = await world.begin('base-mainnet')
  await order.pay()
  await order.deliver()
  await order.byBuyer('approve')
  await order.earned(22_500_000n)
  return order
}

async function ask<T extends object>(url: string, statement: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<T>(statement)).rows
  } finally {
    await client.end()
  }
}

test('restore: the commands of the runbook restore a database that passes its checks, and no payout is sent twice', {
  timeout: 900_000,
}, async () => {
  const { market, worker } = world
  const kept = [await completeOrder(), await completeOrder()]
  const isFinal = `select count(*)::integer as count from payouts where state = 'final'`
  await until(
    'both payouts are final',
    async () => (await ask<{ count: number }>(market.database.url, isFinal))[0]?.count === 2,
    LONG,
  )

  const folder = mkdtempSync(join(tmpdir(), 'market-restore-'))
  const name = newTestDatabaseName()
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
    dropTestDatabase(name)
  })
  const restoredUrl = market.database.url.replace(market.database.name, name)
  const env = {
    PATH: process.env['PATH'],
    MARKET_ENV: 'development',
    DATABASE_URL: market.database.url,
    MAINTENANCE_URL: postgresUrl(),
    RESTORED: name,
    RESTORED_URL: restoredUrl,
    BACKUP: join(folder, 'market.dump'),
  }
  const bundle = await currentBundle()
  const runCommands = (commands: string) =>
    promisify(execFile)('bash', ['-euc', commands.replaceAll('dist/bin/', `${bundle}/bin/`)], { env })
  await runCommands(backup)
  // Paid out after the backup: the restored database does not know of it.
  const lost = await completeOrder()
  await worker.stop()

  await runCommands(restore)
  // The backup is of one release, and the programs of the next one start on it.
  const next = expandSteps()
  expect(await migrate(restoredUrl, [...readMigrations(), ...next])).toHaveLength(next.length)
  expect(CHECKS).toHaveLength(3)
  for (const statement of CHECKS) expect(await ask(restoredUrl, statement), statement).toEqual([])
  const ids = await ask<{ id: string }>(restoredUrl, 'select id from orders order by created_at')
  expect(ids.map(({ id }) => id)).toEqual(kept.map(({ id }) => id))
  expect(ids.map(({ id }) => id)).not.toContain(lost.id)

  const api = await startApi({ ...market.environment, DATABASE_URL: restoredUrl })
  onTestFinished(() => api.stop())
  const restored = await market.startWorker({ ...world.receiver.settings, DATABASE_URL: restoredUrl })
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
  const metricsAre =
    (...lines: RegExp[]) =>
    async () => {
      const text = await (await fetch(`${restored.url}/metrics`)).text()
      return lines.every((line) => line.test(text))
    }
  // The lost payment came in and its payout went out: the chain is read again, and the loss is seen and not repeated.
  await until(
    'the chain was read and the lost payout is seen',
    metricsAre(
      /^market_treasury_short_micros\{network="base-mainnet"\} [1-9]/m,
      /^market_ledger_imbalance_micros\{network="base-mainnet"\} 0$/m,
      /^market_audit_broken 0$/m,
      /^market_ready 1$/m,
    ),
    LONG,
  )
  const gone = await ask<{ mark: string }>(
    restoredUrl,
    'select mark from outgoing_transfers where mark not in (select mark from payouts)',
  )
  expect(gone).toHaveLength(1)
  for (const order of [...kept, lost]) await order.earned(22_500_000n)
})
