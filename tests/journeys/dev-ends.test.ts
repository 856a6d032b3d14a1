import { setTimeout as wait } from 'node:timers/promises'
import { asAdmin } from '@market/testing/template-database'
import { Redis } from 'ioredis'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { alive, type Dev, descendants, networksOf, runDev, startDev } from './dev-process.ts'

const running: Dev[] = []
async function start(args: readonly string[] = []): Promise<Dev> {
  const dev = await startDev(args)
  running.push(dev)
  return dev
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((dev) => dev.clear()))
})

const databaseExists = (name: string) =>
  asAdmin(async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    return rowCount === 1
  })

async function redisKeys(dev: Dev): Promise<number> {
  const redis = new Redis(dev.at.redis)
  try {
    return (await redis.keys(`${dev.run}:*`)).length
  } finally {
    redis.disconnect()
  }
}

async function expectNothingLeft(dev: Dev, processes: readonly number[]): Promise<void> {
  expect(alive(processes)).toEqual([])
  expect(await databaseExists(dev.run)).toBe(false)
  expect(await redisKeys(dev)).toBe(0)
  expect(dev.leftFiles()).toEqual([])
  expect(dev.said.err).toBe('')
}

/** More than it takes: a busy machine needs time to start processes. */
const LONG = { timeout: 120_000, interval: 50 }

const untilGone = (pids: readonly number[]) => vi.waitFor(() => expect(alive(pids)).toEqual([]), LONG)

/** How long after the chains began to start they are killed; the gauntlet kills at several moments. */
const KILL_DELAYS_MS = (process.env['KILL_DELAYS_MS'] ?? '150').split(',').map(Number)

test('SIGTERM: no process, database, Redis key or file is left', async () => {
  const dev = await start()
  const processes = dev.processes()
  // The api, the worker, the networks and their two anvils.
  expect(processes).toHaveLength(5)
  expect(await databaseExists(dev.run)).toBe(true)
  expect(await redisKeys(dev)).toBeGreaterThan(0)
  expect(dev.leftFiles()).toHaveLength(1)
  expect(await dev.stop('SIGTERM')).toBe(0)
  await expectNothingLeft(dev, processes)
})

test('--own-servers: starts its own Postgres and Redis, and stops them at the end', async () => {
  const dev = await start(['--own-servers', '--no-chains'])
  const { port: redisPort } = new URL(dev.at.redis)
  const { port: postgresPort } = new URL(dev.at.postgres)
  expect([redisPort, postgresPort]).not.toContain('6379')
  expect([redisPort, postgresPort]).not.toContain('5432')
  expect((await dev.api().get('/api/agents')).body.data).toHaveLength(5)
  expect(await redisKeys(dev)).toBeGreaterThan(0)
  const processes = dev.processes()
  expect(await dev.stop()).toBe(0)
  expect(alive(processes)).toEqual([])
  expect(dev.leftFiles()).toEqual([])
})

test('SIGKILL: the api, the chains and its own servers end too', async () => {
  const dev = await start(['--own-servers'])
  const processes = dev.processes()
  expect(processes.length).toBeGreaterThan(8)
  await dev.stop('SIGKILL')
  await untilGone(processes)
  await vi.waitFor(() => expect(dev.leftFiles()).toEqual([]), LONG)
})

test.each(KILL_DELAYS_MS)(
  'SIGKILL %i ms after the chains began to start: none of them is left',
  async (later) => {
    const dev = runDev(['--json'])
    onTestFinished(dev.clear)
    const networks = () => networksOf(dev.child.pid ?? 0)
    await vi.waitFor(() => expect(networks()).toBeDefined(), LONG)
    const processes = [networks() ?? 0]
    await wait(later)
    processes.push(...descendants(processes[0] ?? 0))
    dev.child.kill('SIGKILL')
    await untilGone(processes)
  },
)

test('a second signal ends it at once while the api hangs; one keypress that arrives twice does not', async () => {
  const dev = await start(['--no-chains'])
  const processes = dev.processes()
  for (const pid of processes) process.kill(pid, 'SIGSTOP')
  dev.child.kill('SIGINT')
  dev.child.kill('SIGINT')
  await wait(600)
  expect(dev.child.exitCode).toBe(null)
  expect(await dev.stop('SIGINT')).toBe(1)
  for (const pid of processes) process.kill(pid, 'SIGCONT')
  await untilGone(processes)
})

test('the next start removes what a killed one left and nothing of a running one; SIGINT leaves nothing', async () => {
  const [killed, running] = await Promise.all([start(['--no-chains']), start(['--no-chains'])])
  const processes = killed.processes()
  await killed.stop('SIGKILL')
  await untilGone(processes)
  expect(await redisKeys(running)).toBeGreaterThan(0)
  await start(['--no-chains'])
  expect(await databaseExists(killed.run)).toBe(false)
  await vi.waitFor(async () => expect(await redisKeys(killed)).toBe(0), LONG)
  expect(await redisKeys(running)).toBeGreaterThan(0)
  expect(await databaseExists(running.run)).toBe(true)
  expect((await running.api().get('/api/agents')).status).toBe(200)

  const ofRunning = running.processes()
  expect(await running.stop('SIGINT')).toBe(0)
  await expectNothingLeft(running, ofRunning)
})

test('the api ends unexpectedly: reports it, cleans up and exits with 1', async () => {
  const dev = await start(['--no-chains'])
  const [api = 0] = dev.processes()
  process.kill(api, 'SIGKILL')
  expect(await dev.ended).toBe(1)
  expect(dev.said.err).toMatch(/^The api ended unexpectedly\./)
  expect(await databaseExists(dev.run)).toBe(false)
  expect(await redisKeys(dev)).toBe(0)
  expect(dev.leftFiles()).toEqual([])
})

test('the networks end unexpectedly: reports it, ends the chains, cleans up and exits with 1', async () => {
  const dev = await start()
  const processes = dev.processes()
  process.kill(networksOf(dev.pid) ?? 0, 'SIGKILL')
  expect(await dev.ended).toBe(1)
  expect(dev.said.err).toMatch(/^The networks ended unexpectedly\./)
  await untilGone(processes)
  expect(await databaseExists(dev.run)).toBe(false)
  expect(dev.leftFiles()).toEqual([])
})

test('SIGTERM while it starts: removes what it had started', async () => {
  const dev = runDev(['--json', '--own-servers'])
  await vi.waitFor(() => expect(dev.leftFiles().length).toBeGreaterThan(1), LONG)
  dev.child.kill('SIGTERM')
  expect(await dev.ended).toBe(0)
  expect(dev.said).toEqual({ out: '', err: '' })
  expect(dev.leftFiles()).toEqual([])
  await dev.clear()
})
