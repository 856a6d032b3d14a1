import { readFileSync } from 'node:fs'
import { deleteUnusedUploads } from '@market/files/uploads'
import { HOUR } from '@market/kernel/clock'
import { storageFrom } from '@market/platform/settings/storage'
import { testClock } from '@market/testing/clock'
import { marketContext } from '@market/testing/market-context'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { expectWithin } from '../support/measured.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { rawUpload } from './raw-upload.ts'

const MEGABYTE = 1024 * 1024

let api: ServerProcess
let market: Market
let apiKey: string
beforeAll(async () => {
  market = await startMarket(
    { UPLOAD_UNPAID_MB_PER_DAY: '1024' },
    {
      run: async (environment) => {
        api = await startApi(environment)
        return { url: api.url, logText: api.output, stop: api.stop }
      },
    },
  )
})
afterAll(() => market.stop())
beforeEach(async () => {
  apiKey = (await makeAgent(market)).apiKey
})

const rows = () => market.db.selectFrom('uploads').select(['id', 'state']).execute()
const isEmpty = async () =>
  (await rows()).length === 0 && market.s3.keys().length === 0 && market.s3.openUploads() === 0

/** What the worker does two hours later. */
const sweep = () =>
  deleteUnusedUploads(
    marketContext({
      db: market.db,
      clock: testClock(new Date(Date.now() + 2 * HOUR)),
      objects: storageFrom({ ...market.s3.settings, S3_REGION: 'us-east-1', TIMEOUT_FACTOR: 10 }),
    }),
  )

/** As if the files of the tests before were never used. */
async function deleteAll(): Promise<void> {
  await market.db.updateTable('uploads').set({ state: 'deleting' }).execute()
  await sweep()
}

/** The most memory that the process has had, in megabytes. */
const peakMemory = (): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))?.[1]) / 1024

const store = async (megabytes: number) => {
  const upload = rawUpload(api.url, apiKey)
  await upload.send(megabytes * MEGABYTE)
  upload.finish()
  expect(await upload.received).toContain('HTTP/1.1 201 ')
}

// First, because the process never returns the memory that a later test would compare with.
test('50 MB are stored while they arrive, with less than 64 MB of additional memory', async () => {
  await store(6)
  const [memory, before] = [peakMemory(), market.s3.received()]
  const upload = rawUpload(api.url, apiKey)
  expect(await upload.send(25 * MEGABYTE)).toBe(true)
  // Nobody knows yet that the file goes on.
  await until('the first parts are stored', () => market.s3.received() - before > 15 * MEGABYTE)
  expect(await upload.send(24 * MEGABYTE)).toBe(true)
  upload.finish()
  expect(await upload.received).toContain('HTTP/1.1 201 ')
  // In megabytes. Only the gauntlet, which is alone on the machine, measures it.
  expectWithin(peakMemory() - memory, 64)
})

test('a cut connection leaves nothing behind', async () => {
  await deleteAll()
  const upload = rawUpload(api.url, apiKey)
  const before = market.s3.received()
  expect(await upload.send(20 * MEGABYTE)).toBe(true)
  await until('parts are stored', () => market.s3.received() - before > 6 * MEGABYTE)
  expect(await rows()).toMatchObject([{ state: 'pending' }])
  upload.socket.resetAndDestroy()
  await until('everything is deleted', isEmpty)
})

test('a file above 50 MB is refused while it arrives: the server stops reading, and stores nothing', async () => {
  const upload = rawUpload(api.url, apiKey)
  const before = market.s3.received()
  expect(await upload.send(200 * MEGABYTE)).toBe(false)
  expect(await upload.received).toMatch(/^HTTP\/1\.1 413 .*"code":"file_too_large"/s)
  expect(market.s3.received() - before).toBeLessThan(52 * MEGABYTE)
  await until('everything is deleted', isEmpty)
})

test('a caller without a credential is refused before the file is read, and gets the response', async () => {
  for (let times = 0; times < 20; times += 1) {
    const upload = rawUpload(api.url, `market_${'0'.repeat(49)}`)
    await upload.send(200 * MEGABYTE)
    expect(await upload.received).toContain('HTTP/1.1 401 ')
  }
  expect(await isEmpty()).toBe(true)
})

test('503: the storage ends during an upload; the sweep deletes what is left', async () => {
  const upload = rawUpload(api.url, apiKey)
  const before = market.s3.received()
  expect(await upload.send(8 * MEGABYTE)).toBe(true)
  await until('a part is stored', () => market.s3.received() - before > 5 * MEGABYTE)
  await market.s3.kill()
  await upload.send(12 * MEGABYTE)
  await until('the response', () => upload.text().includes('storage_unavailable'))
  expect(upload.text()).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 5\r\n/is)
  upload.socket.destroy()
  expect(await rows()).toMatchObject([{ state: 'pending' }])
  await market.s3.restart()
  expect(market.s3.keys()).toEqual([])
  expect(await sweep()).toBe(1)
  expect(await rows()).toEqual([])
})

test('the process is killed during an upload: the sweep deletes what is left', async () => {
  const upload = rawUpload(api.url, apiKey)
  const before = market.s3.received()
  expect(await upload.send(8 * MEGABYTE)).toBe(true)
  await until('a part is stored', () => market.s3.received() - before > 5 * MEGABYTE)
  api.kill('SIGKILL')
  await api.exited
  expect(await rows()).toMatchObject([{ state: 'pending' }])
  expect(await sweep()).toBe(1)
  expect(await rows()).toEqual([])
})
