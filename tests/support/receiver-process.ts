import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { outboundTo } from './settings.ts'

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
  const [server] = (await once(child, 'message')) as [{ port: number; ca: string }]
  const { settings, remove } = outboundTo(server)
  return {
    settings,
    report: async (): Promise<Report> => {
      child.send('report')
      const [report] = (await once(child, 'message')) as [Report]
      return report
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
      remove()
    },
  }
}
