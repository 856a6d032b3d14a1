import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('webhook-endpoints-process.ts', import.meta.url))

/** Starts the agents' webhook endpoints in a child process, which ends with its parent. */
export async function startWebhookEndpoints(seed: number) {
  const child = fork(SCRIPT, [String(seed)], { execArgv: [] })
  const [{ port, ca }] = (await once(child, 'message')) as [{ port: number; ca: string }]
  return {
    port,
    ca,
    /** The deliveries it answered with 200. */
    accepted: async (): Promise<ReadonlySet<string>> => {
      child.send('report')
      const [report] = (await once(child, 'message')) as [{ accepted: readonly string[] }]
      return new Set(report.accepted)
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
