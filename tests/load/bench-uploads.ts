import { setTimeout as wait } from 'node:timers/promises'
import { startApi } from '../support/api-process.ts'
import { client, someAddress } from '../support/client.ts'
import { makeAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { formOf } from '../support/operation-request.ts'
import { startParts } from '../support/parts.ts'
import { percentile } from '../support/until.ts'
import { PNG } from '../support/uploads.ts'
import { report } from './bench-report.ts'
import { startStorage } from './storage-process.ts'

/** 500 reads a second, without and with 100 uploads of 5 MB at once. The storage is a process of its own. */
const SECONDS = Number(process.env['SECONDS'] ?? 10)
const UPLOADS = 100
const READS_PER_SECOND = 500
const FILE_BYTES = 5 * 1024 * 1024

const storage = await startStorage()
const parts = await startParts({ ...storage.settings, REQUESTS_PER_SECOND: '100000', UPLOADS_AT_ONCE: '100' })
const api = await startApi({ ...parts.environment, DATABASE_URL: parts.database.url })
const market = { client: () => client(api.url) } as unknown as Market
const { apiKey } = await makeAgent(market)

async function read(): Promise<number> {
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': someAddress() }
  const response = await fetch(`${api.url}/api/agents/me`, { headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`a read returned ${response.status}`)
  return performance.now() - startedAt
}

/** The milliseconds of each read. They start at their time, also when those before are late. */
async function readFor(seconds: number): Promise<number[]> {
  const startedAt = performance.now()
  const reads: Promise<number>[] = []
  while (performance.now() - startedAt < seconds * 1_000) {
    const due = ((performance.now() - startedAt) / 1_000) * READS_PER_SECOND
    while (reads.length < due) reads.push(read())
    await wait(5)
  }
  return Promise.all(reads)
}

const content = new Uint8Array(FILE_BYTES)
content.set(PNG)

/** One of the uploads that run at the same time, again and again. */
async function upload(isOver: () => boolean): Promise<number> {
  const { apiKey: bearer } = await makeAgent(market)
  let count = 0
  while (!isOver()) {
    const reply = await market.client().post('/api/upload', formOf(content, 'a.png'), { bearer })
    if (reply.status !== 201) throw new Error(`an upload returned ${reply.status} ${reply.body.code}`)
    count++
  }
  return count
}

try {
  await readFor(3)
  const alone = await readFor(SECONDS)
  let over = false
  const uploads = Array.from({ length: UPLOADS }, () => upload(() => over))
  const beside = await readFor(SECONDS)
  over = true
  const stored = (await Promise.all(uploads)).reduce((sum, count) => sum + count, 0)
  const [before, during] = [percentile(alone, 0.99), percentile(beside, 0.99)]
  report([
    {
      what: `p99 of ${READS_PER_SECOND} reads/s beside ${UPLOADS} uploads (${stored} files of 5 MB), to without`,
      measured: `${(during / before).toFixed(2)} (${during.toFixed(1)} ms to ${before.toFixed(1)} ms)`,
      aim: '2.00',
      cpu: '',
    },
  ])
} finally {
  api.kill('SIGTERM')
  await api.exited
  storage.stop()
  await parts.stop()
}
