import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type RoleName, urlOfRole } from '@market/database/roles'
import { programFile } from '../../scripts/bundle.ts'
import { compileCacheOf, currentBundle } from './bundle.ts'
import { CHILD_ENVIRONMENT } from './child-environment.ts'
import { BASE_URL, WALLET_SEAL } from './settings.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * `sources` is for hooks that change a source file while it is loaded, `folder` for a bundle at another place, and the
 * sources of another checkout can be named too.
 */
export type StartFrom = 'sources' | { readonly folder: string } | { readonly sources: string }

type Environment = Readonly<Record<string, string>>

interface Launch {
  readonly file: string
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
}

/** Tests move the clock and have one node per network. */
export const DEVELOPMENT = { MARKET_ENV: 'development' } as const

/** How to start a server as a process: from the bundle of the current sources, as production does, unless told otherwise. */
export async function launchOf(program: RoleName, from?: StartFrom): Promise<Launch> {
  const sources = { ...CHILD_ENVIRONMENT, ...DEVELOPMENT }
  if (from === 'sources') return { file: `apps/${program}/src/main.ts`, cwd: ROOT, environment: sources }
  const { PATH } = CHILD_ENVIRONMENT
  if (from !== undefined && 'sources' in from)
    return {
      file: `apps/${program}/src/main.ts`,
      cwd: from.sources,
      environment: { PATH, ...DEVELOPMENT },
    }
  if (from !== undefined)
    return {
      file: programFile(from.folder, program),
      cwd: from.folder,
      environment: { PATH, ...DEVELOPMENT },
    }
  const folder = await currentBundle()
  return {
    file: programFile(folder, program),
    cwd: ROOT,
    environment: { PATH, NODE_COMPILE_CACHE: compileCacheOf(folder), ...DEVELOPMENT },
  }
}

/** The database URL with the role that the program has in production; nothing when the environment has no URL. */
const asRole = (environment: Environment, role: RoleName) =>
  environment['DATABASE_URL'] === undefined
    ? {}
    : { DATABASE_URL: urlOfRole(environment['DATABASE_URL'], role) }

const START_WITHIN_MS = 150_000

export interface ServerProcess {
  /** The address of its routes; a worker has those for health and metrics. */
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

export interface StartOptions {
  readonly nodeOptions?: readonly string[]
  readonly from?: StartFrom
}

/** The api in a separate process, from the bundle. It ends with the test at the latest. */
export const startApi = (
  environment: Environment,
  { port = 0, ...options }: StartOptions & { readonly port?: number } = {},
): Promise<ServerProcess> => startProgram('api', { ...environment, PORT: String(port) }, 'listening', options)

/** The same for a worker. */
export const startWorker = (environment: Environment, options?: StartOptions): Promise<ServerProcess> =>
  startProgram(
    'worker',
    { PORT: '0', DATABASE_POOL: '4', BASE_URL, ...WALLET_SEAL.worker, ...environment },
    'worker started',
    options,
  )

/** `isUp` is the message with which it logs its address. */
async function startProgram(
  program: RoleName,
  environment: Environment,
  isUp: string,
  { nodeOptions = [], from }: StartOptions = {},
): Promise<ServerProcess> {
  const launch = await launchOf(program, from)
  const child = spawn(process.execPath, [...nodeOptions, launch.file], {
    cwd: launch.cwd,
    env: { ...launch.environment, ...environment, ...asRole(environment, program) },
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
  const url = await addressOf(child, program, isUp, output).catch((error: unknown) => {
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
function addressOf(child: ChildProcess, program: string, isUp: string, output: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => reject(new Error(`the ${program} ${what}: ${output.join('')}`))
    const timer = setTimeout(() => fail('did not start'), START_WITHIN_MS)
    child.once('exit', () => fail('ended'))
    child.once('error', reject)
    const line = new RegExp(`"address":"(http:[^"]+)"[^\\n]*"msg":"${isUp}"`)
    let log = ''
    let found = false
    child.stdout?.on('data', (chunk: Buffer) => {
      output.push(chunk.toString())
      if (found) return
      log += chunk.toString()
      const address = line.exec(log)?.[1]
      if (address === undefined) return
      found = true
      clearTimeout(timer)
      resolve(address)
    })
  })
}
