import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../load/bench-receiver.ts', import.meta.url))

interface Report {
  /** Every call since the last report: delivery id and time of arrival. */
  readonly calls: readonly (readonly [id: string, at: number])[]
  /** TLS connections since the last report, and how many of them skipped the full handshake. */
  readonly connections: number
  readonly resumed: number
  /** Processor time since the start. */
  readonly cpuMicros: number
}

/** Endpoints under `*.hooks.example` in a separate process, which ends with its parent. */
export async function startReceiverProcess() {
  const child = fork(SCRIPT, { execArgv: [] })
  const [{ port, ca }] = (await once(child, 'message')) as [{ port: number; ca: string }]
  return {
    port,
    ca,
    report: async (): Promise<Report> => {
      child.send('report')
      const [report] = (await once(child, 'message')) as [Report]
      return report
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
