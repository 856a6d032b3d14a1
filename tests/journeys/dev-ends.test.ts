import { expect, test, vi } from 'vitest'
import {
  databaseExists,
  expectNothingLeft,
  LONG,
  redisKeys,
  start,
  untilDisconnected,
  untilGone,
} from './dev-remains.ts'

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

test('SIGKILL: the api, the chains and its own servers end too', async () => {
  const dev = await start(['--own-servers'])
  const processes = dev.processes()
  expect(processes.length).toBeGreaterThan(8)
  await dev.stop('SIGKILL')
  await untilGone(processes)
  await vi.waitFor(() => expect(dev.leftFiles()).toEqual([]), LONG)
})

test('the next start removes what a killed one left and nothing of a running one; SIGINT leaves nothing', async () => {
  const [killed, running] = await Promise.all([start(['--no-chains']), start(['--no-chains'])])
  const processes = killed.processes()
  await killed.stop('SIGKILL')
  await untilGone(processes)
  await untilDisconnected(killed.run)
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
