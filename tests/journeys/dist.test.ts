import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { asAdmin, databaseUrl } from '@market/testing/template-database'
import { beforeAll, expect, test } from 'vitest'
import { programFile } from '../../scripts/bundle.ts'
import { currentBundle } from '../support/bundle.ts'
import { startApi, startWorker } from '../support/processes.ts'
import { apiEnvironment, REDIS_URL, WALLET_SEAL } from '../support/settings.ts'
import { until } from '../support/until.ts'

const DATABASE = `market_test_dist_${randomBytes(6).toString('hex')}`

/** `/readyz` answers 503 while a busy machine keeps the database from answering within half a second. */
const POLLING = { withinMs: 30_000 }

const run = promisify(execFile)

/** A copy of the bundle in a folder that has no node_modules in or above it. */
let dist: string
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  dist = mkdtempSync(join(tmpdir(), 'market-dist-'))
  const bundle = await currentBundle()
  for (const part of ['bin', 'migrations', 'docs', 'fonts'])
    cpSync(join(bundle, part), join(dist, part), { recursive: true })
  await asAdmin((client) => client.query(`create database ${DATABASE}`))
  environment = apiEnvironment({
    databaseUrl: databaseUrl(DATABASE),
    redisUrl: REDIS_URL,
    redisPrefix: DATABASE,
    idp: { issuer: 'http://127.0.0.1:1', audience: 'https://market.test/api' },
  })
  return async () => {
    rmSync(dist, { recursive: true, force: true })
    await asAdmin((client) => client.query(`drop database if exists ${DATABASE} with (force)`))
  }
})

/** Runs a command of the bundle to its end, as the owner of the database. Rejects when it fails. */
const runCommand = (program: 'migrate' | 'create-roles' | 'rotate-vault' | 'new-keys') =>
  run(process.execPath, [programFile(dist, program)], {
    cwd: dist,
    env: { ...environment, ...WALLET_SEAL.worker, DATABASE_URL: databaseUrl(DATABASE) },
  })

test('dist: every chunk loads without node_modules', async () => {
  const chunks = readdirSync(join(dist, 'bin')).filter((name) => /-[\w-]{8}\.mjs$/.test(name))
  expect(chunks.length).toBeGreaterThan(0)
  const script = `for (const url of ${JSON.stringify(
    chunks.map((name) => pathToFileURL(join(dist, 'bin', name)).href),
  )}) await import(url)`
  await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: dist })
})

test('dist: migrates an empty database, creates the roles, then serves the api, runs a worker and rotates the vault', async () => {
  const migrated = await runCommand('migrate')
  expect(migrated.stdout).toMatch(/^Applied: 0001_core, /)
  const again = await runCommand('migrate')
  expect(again.stdout).toBe('The database is up to date.\n')
  expect((await runCommand('create-roles')).stdout).toContain('market_api')
  expect((await runCommand('new-keys')).stdout).toMatch(/^WALLET_SEAL_PUBLIC_KEY=public-[0-9a-f]{16}:/m)

  const traces = await startTraceCollector()
  const settings = { ...environment, TRACES_ENDPOINT: traces.url }
  const api = await startApi(settings, { from: { folder: dist } })
  const worker = await startWorker(settings, { from: { folder: dist } })
  try {
    const statusOf = async (url: string) => (await fetch(url)).status
    for (const { url } of [api, worker])
      await until(`${url} is ready`, async () => (await statusOf(`${url}/readyz`)) === 200, POLLING)
    for (const path of [
      '/',
      '/api/openapi.json',
      '/docs',
      '/docs/guides/sell-your-first-service',
      '/docs/assets/geist.woff2',
      '/docs/assets/geist-mono.woff2',
      '/api/agents',
    ])
      expect(await statusOf(api.url + path), path).toBe(200)
    const [script = ''] =
      /\/docs\/assets\/scalar-[0-9a-f]{16}\.js/.exec(await (await fetch(`${api.url}/docs`)).text()) ?? []
    expect(await statusOf(api.url + script), script).toBe(200)
    await until('a trace arrives', () => traces.received() > 0, POLLING)
  } finally {
    await Promise.all([api.stop(), worker.stop(), traces.stop()])
  }

  const rotated = await runCommand('rotate-vault')
  expect(rotated.stdout).toContain('No value uses another key')
})

/** Counts the requests that an OpenTelemetry exporter sends. */
async function startTraceCollector() {
  let received = 0
  const server = createServer((request, response) => {
    received += 1
    request.resume().on('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    received: () => received,
    stop: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
