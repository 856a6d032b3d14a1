import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('sink-process.ts', import.meta.url))

/** Somebody's webhook endpoints, in a process of their own; it ends with whoever started it. */
export async function startSink(seed: number) {
  const child = fork(SCRIPT, [String(seed)], { execArgv: [] })
  const [{ port, ca }] = (await once(child, 'message')) as [{ port: number; ca: string }]
  return {
    port,
    ca,
    /** The deliveries it answered with 200. */
    taken: async (): Promise<ReadonlySet<string>> => {
      child.send('report')
      const [report] = (await once(child, 'message')) as [{ taken: readonly string[] }]
      return new Set(report.taken)
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
