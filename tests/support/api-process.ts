import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { asRole, launchOf, type StartFrom } from './program.ts'

const START_WITHIN_MS = 150_000

export interface ApiProcess {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Sends the signal; `exited` resolves when the process has ended. */
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Everything it wrote so far to stdout and stderr. */
  output(): string
  /** Kills it and waits until it has ended. */
  stop(): Promise<void>
}

interface ApiSettings {
  readonly port?: number
  readonly nodeOptions?: readonly string[]
  readonly from?: StartFrom
}

/** Starts the api as production does: a separate process, from the bundle. It ends with the test at the latest. */
export async function startApi(
  environment: Readonly<Record<string, string>>,
  { port = 0, nodeOptions = [], from }: ApiSettings = {},
): Promise<ApiProcess> {
  const launch = await launchOf('api', from)
  const child = spawn(process.execPath, [...nodeOptions, launch.file], {
    cwd: launch.cwd,
    env: { ...launch.environment, ...environment, ...asRole(environment, 'api'), PORT: String(port) },
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
  const url = await listening(child, output).catch((error: unknown) => {
    killChild()
    throw error
  })
  return {
    url,
    port: Number(new URL(url).port),
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

/** Reads the log until the process logs its address. */
function listening(child: ChildProcess, output: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the api did not start: ${output.join('')}`)),
      START_WITHIN_MS,
    )
    child.once('exit', () => reject(new Error(`the api ended: ${output.join('')}`)))
    child.once('error', reject)
    let log = ''
    let found = false
    child.stdout?.on('data', (chunk: Buffer) => {
      output.push(chunk.toString())
      if (found) return
      log += chunk.toString()
      const address = /"address":"(http:[^"]+)"[^\n]*"msg":"listening"/.exec(log)?.[1]
      if (address === undefined) return
      found = true
      clearTimeout(timer)
      resolve(address)
    })
  })
}
