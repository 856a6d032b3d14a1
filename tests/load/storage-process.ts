import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type S3Server, startS3Server } from '@market/testing/s3-server'

/** The storage in a process of its own, so that its work is not that of the client. */
export async function startStorage() {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] })
  const [settings] = (await once(child, 'message')) as [S3Server['settings']]
  return { settings, stop: () => child.kill() }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const s3 = await startS3Server()
  process.send?.(s3.settings)
  for (const event of ['SIGTERM', 'disconnect'])
    process.once(event, () => void s3.stop().then(() => process.exit()))
}
