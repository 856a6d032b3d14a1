import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Client, client } from '../support/client.ts'

const MAIN = fileURLToPath(new URL('../../apps/dev/src/main.ts', import.meta.url))

interface Addresses {
  readonly api: string
  readonly app: string
  readonly web: string | null
  readonly control: string
  readonly postgres: string
  readonly redis: string
  readonly idp: string
  readonly networks: Readonly<Record<string, { rpc: string; usdc: string; treasury: string }>>
  readonly sample_service: { readonly id: string; readonly agent_id: string; readonly price_usd: string }
  readonly admin_key: string
  readonly admin: { readonly client_id: string; readonly audience: string }
  readonly files: string
}

export type Dev = Awaited<ReturnType<typeof startDev>>

/** Runs `dev` and does not wait for anything. */
export function runDev(args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'dev-test-'))
  // Started by root, Postgres runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711)
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    child,
    said,
    /** Its exit code, once everything it wrote was read. */
    ended,
    /** What it left in the place for temporary files. */
    leftFiles: () => readdirSync(folder),
    /** For the end of a test, whatever happened in it. */
    clear: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs `dev --json` until it is ready. */
export async function startDev(args: readonly string[] = []) {
  const dev = runDev(['--json', ...args])
  const line = await Promise.race([
    once(createInterface({ input: dev.child.stdout }), 'line').then(([first]) => String(first)),
    dev.ended.then((code) => {
      throw new Error(`dev ended with ${code}: ${dev.said.err}`)
    }),
  ]).catch(async (error: unknown) => {
    await dev.clear()
    throw error
  })
  const at = JSON.parse(line) as Addresses
  const pid = dev.child.pid ?? 0
  return {
    ...dev,
    at,
    pid,
    /** Names its database and begins its Redis keys. */
    run: new URL(at.postgres).pathname.slice(1),
    api: (): Client => client(at.api),
    control: async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${at.control}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> }
    },
    processes: () => descendants(pid),
    /** Asks it to stop, and waits for its exit code. */
    stop: async (signal: NodeJS.Signals = 'SIGTERM') => {
      dev.child.kill(signal)
      return await dev.ended
    },
  }
}

interface Row {
  readonly pid: number
  readonly parent: number
  readonly state: string
  readonly command: string
}

const processTable = (): Row[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
    .map(([pid, parent, state = '', ...command]) => ({
      pid: Number(pid),
      parent: Number(parent),
      state,
      command: command.join(' '),
    }))

/** The process that holds the chains of this dev; undefined while there is none. */
export const networksOf = (dev: number): number | undefined =>
  processTable().find(({ parent, command }) => parent === dev && command.includes('run-networks'))?.pid

export function descendants(pid: number): number[] {
  const table = processTable()
  const found = [pid]
  for (const parent of found) for (const row of table) if (row.parent === parent) found.push(row.pid)
  return found.slice(1)
}

/** Those of them that still run; one that is dead and only not yet buried does not. */
export const alive = (pids: readonly number[]): number[] =>
  processTable()
    .filter(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'))
    .map(({ pid }) => pid)
