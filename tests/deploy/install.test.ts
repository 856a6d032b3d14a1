import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testDatabase } from '@market/testing/postgres'
import { beforeAll, expect, test } from 'vitest'
import { startApi, startWorker } from '../support/processes.ts'
import { apiEnvironment, REDIS_URL } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { copyCheckout } from './clean-checkout.ts'
import { TEST_PACKAGES } from './test-packages.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'market-install-'))
  copyCheckout(folder)
  execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' })
  return () => rmSync(folder, { recursive: true, force: true })
}, 900_000)

test('npm ci --omit=dev: installs no chain, test program or development tool', () => {
  const modules = join(folder, 'node_modules')
  expect(existsSync(join(modules, 'fastify'))).toBe(true)
  expect(TEST_PACKAGES.filter((name) => existsSync(join(modules, name)))).toEqual([])
  const chains = readdirSync(join(modules, '@solana')).filter((name) => name.startsWith('surfpool'))
  expect(chains).toEqual([])
})

test('npm ci --omit=dev: api and worker start from the sources and are ready', async () => {
  const database = await testDatabase()
  const environment = apiEnvironment({
    databaseUrl: database.url,
    redisUrl: REDIS_URL,
    redisPrefix: `install_${process.pid}`,
    idp: { issuer: 'http://127.0.0.1:1', audience: 'https://market.test/api' },
  })
  const from = { sources: folder }
  const programs = [await startApi(environment, { from }), await startWorker(environment, { from })]
  try {
    for (const { url } of programs)
      await until(`${url} is ready`, async () => (await fetch(`${url}/readyz`)).status === 200)
  } finally {
    await Promise.all(programs.map((program) => program.stop()))
    await database.stop()
  }
})
