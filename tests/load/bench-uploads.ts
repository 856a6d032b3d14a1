import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { client, someAddress } from '../support/client.ts'
import { makeAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { percentile } from '../support/until.ts'
import { report } from './bench-report.ts'
import { startStorage } from './storage-process.ts'
import { startUploads } from './upload-load.ts'

/** 500 reads a second, without and with 100 uploads of 6 MB at once, each at 256 KB/s. */
const SECONDS = Number(process.env['SECONDS'] ?? 10)
const UPLOADS = 100
const READS_PER_SECOND = 500
const BYTES_PER_SECOND = 256 * 1024
const PART_BYTES = 5 * 1024 * 1024
const FILE_BYTES = 6 * 1024 * 1024

const storage = await startStorage()
const parts = await startParts({
  ...storage.settings,
  REQUESTS_PER_SECOND: '100000',
  CONNECTIONS_PER_ADDRESS: '100000',
  // A quarter is reserved for callers with a paid order.
  UPLOADS_AT_ONCE: '134',
  UPLOAD_UNPAID_MB_PER_DAY: '1024',
  TIMEOUT_FACTOR: '20',
})
const api = await startApi({ ...parts.environment, DATABASE_URL: parts.database.url })
const market = { client: () => client(api.url) } as unknown as Market
const { apiKey } = await makeAgent(market)

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

function read(): Promise<number> {
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': someAddress() }
  return new Promise((resolve, reject) => {
    const sent = get(`${api.url}/api/agents/me`, { agent, headers }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt)
        else reject(new Error(`a read returned ${response.statusCode}`))
      })
    })
    sent.once('error', reject)
  })
}

/** The milliseconds of each read. They start at their time, also when those before are late. */
async function readFor(seconds: number): Promise<number[]> {
  const startedAt = performance.now()
  const reads: Promise<number>[] = []
  while (performance.now() - startedAt < seconds * 1_000) {
    const due = ((performance.now() - startedAt) / 1_000) * READS_PER_SECOND
    // A kept connection may end before any byte of the response; a read is repeated then.
    while (reads.length < due) reads.push(read().catch(read))
    await wait(5)
  }
  return Promise.all(reads)
}

const bearers: string[] = []
while (bearers.length < UPLOADS) bearers.push((await makeAgent(market)).apiKey)

try {
  await readFor(3)
  const alone = await readFor(SECONDS)
  const uploads = await startUploads({
    url: api.url,
    bearers,
    bytesPerSecond: BYTES_PER_SECOND,
    fileBytes: FILE_BYTES,
  })
  // Until the first parts are full and sent to the storage.
  await wait((PART_BYTES / BYTES_PER_SECOND) * 1_000)
  const beside = await readFor(SECONDS)
  const { stored, failed } = await uploads.stop()
  const [before, during] = [percentile(alone, 0.99), percentile(beside, 0.99)]
  report([
    {
      what: `p99 of ${READS_PER_SECOND} reads/s beside ${UPLOADS} uploads (256 KB/s each, ${stored} files stored, ${failed} failed), to without`,
      measured: `${(during / before).toFixed(2)} (${during.toFixed(1)} ms to ${before.toFixed(1)} ms)`,
      aim: '2.00',
      cpu: '',
    },
  ])
} finally {
  await api.stop()
  storage.stop()
  await parts.stop()
}
