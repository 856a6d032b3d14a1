import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { testDatabase } from '@market/testing/postgres'
import { redisPrefix } from '@market/testing/redis'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import { apiEnvironment, REDIS_URL } from './settings.ts'

/** Fault tests sign no user in, so this address is never reached. */
const NO_IDP = { issuer: 'http://127.0.0.1:1', audience: 'https://market.test/api' }

export type Parts = Awaited<ReturnType<typeof startParts>>

/** What api processes of one test share: a database behind a proxy that can break, and a clock that can be moved. */
export async function startParts(overrides: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const database = await testDatabase()
  const { hostname, port } = new URL(database.url)
  const postgres = await startTcpProxy({ host: hostname, port: Number(port || 5432) })
  const environment: Readonly<Record<string, string>> = {
    ...apiEnvironment({
      databaseUrl: throughProxy(database.url, postgres.port),
      redisUrl: REDIS_URL,
      redisPrefix: redisPrefix(),
      idp: NO_IDP,
    }),
    // A fault of Postgres is noticed by these timeouts.
    TIMEOUT_FACTOR: '1',
    CLOCK_FILE: clockFile,
    ...overrides,
  }
  return {
    database,
    db: database.db,
    postgres,
    environment,
    /** Moves the clock of every API process and waits until they have read it. */
    setClockAhead: async (ms: number) => {
      writeFileSync(clockFile, String(ms))
      await wait(60)
    },
    stop: async () => {
      await postgres.stop()
      await database.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The URL of the same database through a local proxy. */
export function throughProxy(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  // The socket of the server, which would be used instead.
  url.searchParams.delete('host')
  return url.href
}
