import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { programFile, writeBundle } from '../../scripts/bundle.ts'
import { hashSources } from '../../scripts/hash-sources.ts'

const BUNDLES = fileURLToPath(new URL('../../.cache/bundle/', import.meta.url))
/** Lists the installed version of every package, which may differ from the lock file. */
const INSTALLED = 'node_modules/.package-lock.json'
const LOCK = join(BUNDLES, 'lock')
const LOCK_EXPIRES_MS = 180_000
const UNUSED_MS = 3_600_000

let current: Promise<string> | undefined

/** The folder of a bundle of the current sources. Builds it when no earlier test run has. */
export async function currentBundle(): Promise<string> {
  current ??= buildOnce(join(BUNDLES, hashSources([INSTALLED]).slice(0, 16)))
  const folder = await current
  // Marks the bundle as used: bundles that nothing has used for an hour are removed.
  utimesSync(folder, new Date(), new Date())
  return folder
}

/** Where the processes of a bundle keep compiled code; removed together with the bundle. */
export const compileCacheOf = (folder: string): string => join(folder, 'compiled')
const isComplete = (folder: string) => existsSync(compileCacheOf(folder))

async function buildOnce(folder: string): Promise<string> {
  if (isComplete(folder)) return folder
  mkdirSync(BUNDLES, { recursive: true })
  await withLock(async () => {
    if (isComplete(folder)) return
    await writeBundle(folder)
    await Promise.all([fillCompileCache(folder), compileDev()])
    removeUnused()
  })
  return folder
}

/** Loads both servers once: processes that tests kill do not write to the compile cache. */
async function fillCompileCache(folder: string): Promise<void> {
  for (const program of ['api', 'worker'] as const) {
    const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCacheOf(folder) }
    const loaded = promisify(execFile)(process.execPath, [programFile(folder, program)], { env })
    // Without settings a program ends after it has loaded all its code.
    const { stderr } = await loaded.catch((error: { stderr: string }) => error)
    if (!stderr.includes('The configuration is not complete')) throw new Error(stderr)
  }
}

const DEV = fileURLToPath(new URL('../../apps/dev/src/', import.meta.url))

/** Loads what `npm run dev` runs once, because several tests start it at the same time and would all compile it. */
async function compileDev(): Promise<void> {
  const load = (file: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(DEV, file), ...args]).catch(() => undefined)
  // Each ends at once: with an unknown option, and without settings.
  await Promise.all([
    load('main.ts', '--compile'),
    load('commands/run-program.ts', 'api'),
    load('commands/run-program.ts', 'worker'),
  ])
}

function removeUnused(): void {
  for (const name of readdirSync(BUNDLES)) {
    const path = join(BUNDLES, name)
    if (path !== LOCK && ageOf(path) > UNUSED_MS) rmSync(path, { recursive: true, force: true })
  }
}

const ageOf = (path: string) =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

/** One build at a time in this checkout. The lock of a process that has ended does not count. */
async function withLock(work: () => Promise<void>): Promise<void> {
  while (!acquireLock()) {
    if (isAbandoned()) rmSync(LOCK, { force: true })
    else await wait(100)
  }
  try {
    await work()
  } finally {
    rmSync(LOCK, { force: true })
  }
}

function acquireLock(): boolean {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isAbandoned(): boolean {
  if (ageOf(LOCK) > LOCK_EXPIRES_MS) return true
  try {
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Vitest's global set-up: no test waits for the build. */
export default async function setup(): Promise<void> {
  await currentBundle()
}
