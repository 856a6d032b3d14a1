import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@market/testing/postgres-server'
import { beforeAll, expect, test } from 'vitest'
import { deploymentFiles } from '../../scripts/prepare-deployment.ts'
import { until } from '../support/until.ts'
import { parseEnvironment } from './env-file.ts'
import { buildImage, imageOf, startServers } from './run-image.ts'

let app: string
let image: ReturnType<typeof imageOf>
let servers: Awaited<ReturnType<typeof startServers>>
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'market-image-'))
  chmodSync(folder, 0o755)
  app = buildImage(folder)
  image = imageOf(app)
  servers = await startServers()
  return async () => {
    await servers.stop()
    execFileSync('chmod', ['-R', 'u+w', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}, 900_000)

const files = deploymentFiles()

/** The environment that `npm run deploy:prepare` writes, with the addresses and ports of this machine. */
const environmentOf = async (program: 'api' | 'worker', database: string, role = `market_${program}`) => ({
  ...parseEnvironment(files[`${program}.env`] ?? ''),
  ...(program === 'api' && {
    REDIS_URL: servers.redisUrl,
    FILES_PORT: String(await freePort()),
    INTERNAL_PORT: String(await freePort()),
  }),
  NODE_EXTRA_CA_CERTS: servers.ca,
  DATABASE_URL: servers.databaseUrl(role, database),
  PORT: String(await freePort()),
})

const ready = async (port: string | undefined) => {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  return { status: response.status, body: (await response.json()) as { status: string; reason?: string } }
}

/** Every file with its size and time, so that a change of any kind shows. */
const listed = () => execFileSync('find', [app, '-printf', '%p %s %T@ %m\n'], { encoding: 'utf8' })

test('image: has the programs and the migrations, and no packages, sources, tests or program for clients', () => {
  expect(readdirSync(app)).toEqual(['dist'])
  expect(readdirSync(join(app, 'dist')).sort()).toEqual([
    'bin',
    'docs',
    'fonts',
    'migrations',
    'pages',
    'sbom.cdx.json',
    'sources.sha256',
  ])
  const programs = readdirSync(join(app, 'dist/bin')).filter((name) => /^[a-z-]+\.mjs$/.test(name))
  expect(programs).toEqual(
    expect.arrayContaining(['api.mjs', 'create-roles.mjs', 'migrate.mjs', 'web.mjs', 'worker.mjs']),
  )
  expect(programs).not.toContain('mcp-stdio.mjs')
  expect(listed()).not.toMatch(/anvil|surfpool|node_modules|\.test\.|\.ts /)
})

test('image: before the migrations /readyz is 503 and says to migrate', async () => {
  await servers.createDatabase('empty')
  const environment = await environmentOf('worker', 'empty', 'postgres')
  const worker = await image.start('dist/bin/worker.mjs', environment, 'not ready')
  // On a busy machine the first check of the database may take too long, which is another reason.
  await until('/readyz says to migrate', async () => {
    const { status, body } = await ready(environment.PORT)
    return status === 503 && /has no tables: run .*migrate/.test(body.reason ?? '')
  })
  await worker.stop()
})

test('image: migrates, creates the roles, then api and worker are ready in production mode, over TLS, in folders they cannot write', async () => {
  const before = listed()
  await servers.createDatabase('market')
  const owner = { DATABASE_URL: servers.databaseUrl('postgres', 'market'), NODE_EXTRA_CA_CERTS: servers.ca }
  for (const program of ['migrate', 'create-roles']) {
    const { code, output } = await image.run([`dist/bin/${program}.mjs`], owner)
    expect(code, output).toBe(0)
  }
  const [api, worker] = [await environmentOf('api', 'market'), await environmentOf('worker', 'market')]
  const running = [
    await image.start('dist/bin/api.mjs', api, 'listening'),
    await image.start('dist/bin/worker.mjs', worker, 'worker started'),
  ]
  for (const environment of [api, worker]) {
    await until('ready', async () => (await ready(environment.PORT)).status === 200)
    expect(await image.checkHealth(environment)).toMatchObject({ code: 0 })
  }
  expect((await fetch(`http://127.0.0.1:${api.PORT}/api/agents`)).status).toBe(200)
  const webPort = String(await freePort())
  const web = await image.start(
    'dist/bin/web.mjs',
    {
      ...parseEnvironment(files['web.env'] ?? ''),
      API_URL: `http://127.0.0.1:${api.PORT}`,
      PORT: webPort,
    },
    'listening',
  )
  running.push(web)
  expect(await image.checkHealth({ PORT: webPort })).toMatchObject({ code: 0 })
  for (const path of ['/', '/picture'])
    expect({ path, status: (await fetch(`http://127.0.0.1:${webPort}${path}`)).status }).toEqual({
      path,
      status: 200,
    })
  // Without TLS to Redis, limits would be counted by the process.
  const metrics = await fetch(`http://127.0.0.1:${api.INTERNAL_PORT}/metrics`)
  expect(metrics.status).toBe(200)
  expect(await metrics.text()).not.toMatch(/^market_limiter_fallbacks_total(?:\{[^}]*\})? [1-9]/m)
  const { code, output } = await image.run(['dist/bin/rotate-vault.mjs'], worker)
  expect(code, output).toBe(0)
  for (const { stop } of running) expect((await stop()).code).toBe(0)
  expect(await image.checkHealth(api)).toMatchObject({ code: 1 })
  expect(listed()).toBe(before)
})

test('image: an api with a treasury key or a misspelled setting does not start', async () => {
  const environment = await environmentOf('api', 'market')
  const start = (more: Readonly<Record<string, string>>) =>
    image.run(['dist/bin/api.mjs'], { ...environment, ...more })
  expect(await start({ BASE_TREASURY_KEY: '1'.repeat(64) })).toMatchObject({
    code: 1,
    output: expect.stringContaining('Treasury keys must not be set for the api: BASE_TREASURY_KEY'),
  })
  expect(await start({ TRUSTED_PROXY: '10.0.0.1' })).toMatchObject({
    code: 1,
    output: expect.stringContaining('Unknown setting TRUSTED_PROXY. Did you mean TRUSTED_PROXIES?'),
  })
})
