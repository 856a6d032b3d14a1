import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { someAddress } from '../support/client.ts'
import { BOUNDARY, FORM_END, PNG, partHead } from '../support/uploads.ts'

/** Uploads that run at the same time, each at the pace of a usual connection, until `stop`. */
export interface UploadLoad {
  readonly url: string
  readonly bearers: readonly string[]
  readonly bytesPerSecond: number
  readonly fileBytes: number
}

interface UploadCounts {
  readonly stored: number
  readonly failed: number
}

/** In a process of its own, so that its work does not delay the reads that are measured. */
export async function startUploads(load: UploadLoad) {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(load)], { execArgv: [] })
  await once(child, 'message')
  return {
    /** How many files were stored, and how many were not. */
    stop: async (): Promise<UploadCounts> => {
      const last = once(child, 'message')
      child.send('stop')
      const [counts] = (await last) as [UploadCounts]
      child.kill()
      return counts
    },
  }
}

const CHUNK = Buffer.alloc(32 * 1024)

async function upload({ url, bytesPerSecond, fileBytes }: UploadLoad, bearer: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${bearer}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'x-forwarded-for': someAddress(),
  }
  const sent = request(`${url}/api/upload`, { method: 'POST', headers })
  const response = once(sent, 'response')
  sent.on('error', () => {})
  // Awaited only after the whole file was written.
  response.catch(() => {})
  sent.write(partHead('a.png'))
  sent.write(PNG)
  const startedAt = performance.now()
  for (let bytes = 0; bytes < fileBytes; bytes += CHUNK.length) {
    sent.write(CHUNK)
    const dueAt = startedAt + (bytes / bytesPerSecond) * 1_000
    if (dueAt > performance.now()) await wait(dueAt - performance.now())
  }
  sent.end(FORM_END)
  const [{ statusCode }] = (await response) as [{ statusCode: number; resume(): void }]
  if (statusCode !== 201) throw new Error(`an upload returned ${statusCode}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const load = JSON.parse(process.argv[2] ?? '{}') as UploadLoad
  let stored = 0
  let failed = 0
  const run = async (bearer: string): Promise<never> => {
    for (;;) {
      await upload(load, bearer).then(
        () => stored++,
        () => failed++,
      )
    }
  }
  for (const bearer of load.bearers) void run(bearer)
  process.send?.('started')
  process.once('message', () => process.send?.({ stored, failed }))
  process.once('disconnect', () => process.exit())
}
