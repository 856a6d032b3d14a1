import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { alive, descendants, networksOf, runDev } from './dev-process.ts'
import { databaseExists, LONG, redisKeys, start, untilGone } from './dev-remains.ts'

/** How long after the chains began to start they are killed; the gauntlet kills at several moments. */
const KILL_DELAYS_MS = (process.env['KILL_DELAYS_MS'] ?? '150').split(',').map(Number)

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

test('--no-solana: the EVM networks run and take payments, and Solana is rejected with the reason', async () => {
  const dev = await start(['--no-solana'])
  expect(Object.keys(dev.at.networks)).toEqual(['base-mainnet', 'alt-mainnet'])
  const order = { service_id: dev.at.sample_service.id, brief: 'Count these words, please.' }
  const { body: user } = await dev.control('/idp/token', { email: 'buyer@example.com' })
  const bearer = user['access_token'] ?? ''
  const { body } = await dev.api().post('/api/orders', order, { bearer })
  expect(body.data.payment.map((way: { network: string }) => way.network)).toEqual([
    'base-mainnet',
    'alt-mainnet',
  ])
  const rejected = await dev.control('/wallets', { network: 'solana-mainnet' })
  expect(rejected).toMatchObject({ status: 400, body: { error: expect.stringContaining('--no-solana') } })
})
