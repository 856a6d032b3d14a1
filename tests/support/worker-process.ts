import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { asRole, launchOf, type StartFrom } from './program.ts'
import { WALLET_SEAL } from './settings.ts'

const START_WITHIN_MS = 150_000

export interface WorkerProcess {
  /** The address of its health and metrics routes. */
  readonly url: string
  readonly pid: number
  /** Sends the signal; `exited` resolves when the process has ended. */
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Everything it wrote so far to stdout and stderr. */
  output(): string
  /** Kills it and waits until it has ended. */
  stop(): Promise<void>
}

interface WorkerSettings {
  readonly nodeOptions?: readonly string[]
  readonly from?: StartFrom
}

/** Starts the worker as production does: a separate process, from the bundle. It ends with the test at the latest. */
export async function startWorker(
  environment: Readonly<Record<string, string>>,
  { nodeOptions = [], from }: WorkerSettings = {},
): Promise<WorkerProcess> {
  const launch = await launchOf('worker', from)
  const child = spawn(process.execPath, [...nodeOptions, launch.file], {
    cwd: launch.cwd,
    env: {
      ...launch.environment,
      PORT: '0',
      DATABASE_POOL: '4',
      ...WALLET_SEAL.worker,
      ...environment,
      ...asRole(environment, 'worker'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killChild = () => void child.kill('SIGKILL')
  process.once('exit', killChild)
  const exited = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', killChild)
    return { code: code as number | null, signal: signal as NodeJS.Signals | null }
  })
  const output: string[] = []
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()))
  const url = await working(child, output).catch((error: unknown) => {
    killChild()
    throw error
  })
  return {
    url,
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    exited,
    output: () => output.join(''),
    stop: async () => {
      killChild()
      await exited
    },
  }
}

/** Reads the log until the process logs that it started. */
function working(child: ChildProcess, output: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no worker: ${output.join('')}`)), START_WITHIN_MS)
    child.once('exit', () => reject(new Error(`the worker ended: ${output.join('')}`)))
    child.once('error', reject)
    let log = ''
    let found = false
    child.stdout?.on('data', (chunk: Buffer) => {
      output.push(chunk.toString())
      if (found) return
      log += chunk.toString()
      const address = /"address":"(http:[^"]+)"[^\n]*"msg":"worker started"/.exec(log)?.[1]
      if (address === undefined) return
      found = true
      clearTimeout(timer)
      resolve(address)
    })
  })
}
