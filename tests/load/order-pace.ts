import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openPool } from '@market/database/connect'
import type { openAppServices, Pair } from './order-app.ts'
import { scriptOf, statementsOf } from './order-statements.ts'
import { withPostgresCpu } from './postgres-cpu.ts'

const run = promisify(execFile)

/** How long to go on, and on how many connections. */
export interface Course {
  readonly seconds: number
  readonly connections: number
}

/** Lives in a second, and the processor time of one in the database's processes. */
export interface Pace {
  readonly perSecond: number
  readonly postgresMs: number
}

export interface Market {
  readonly url: string
  readonly app: ReturnType<typeof openAppServices>
  readonly pairs: readonly Pair[]
}

/** How fast we live orders of pairs at random, and the processor time of one in this process, which is one core. */
export async function ours(
  { url, app, pairs }: Market,
  { seconds, connections }: Course,
): Promise<Pace & { readonly ownMs: number }> {
  let lives = 0
  const end = performance.now() + seconds * 1_000
  const loop = async () => {
    while (performance.now() < end) {
      const pair = pairs[Math.floor(Math.random() * pairs.length)]
      if (pair === undefined) throw new Error('nobody buys')
      await app.live(pair)
      lives++
    }
  }
  const before = process.cpuUsage()
  const all = () => Promise.all(Array.from({ length: connections }, loop))
  const { tookMs, cpuMs } = await withPostgresCpu(url, all)
  const { user, system } = process.cpuUsage(before)
  return {
    perSecond: (lives * 1_000) / tookMs,
    postgresMs: cpuMs / lives,
    ownMs: (user + system) / 1_000 / lives,
  }
}

/** The same statements by pgbench, which takes one of the scripts at random each time, on one core of its own. */
export async function bare(
  { url }: Market,
  scripts: readonly string[],
  { seconds, connections }: Course,
): Promise<Pace> {
  // `extended` is the way `pg` sends a statement with values, too.
  const how = ['-n', '-M', 'extended', '-c', String(connections), '-j', '1', '-T', String(seconds)]
  const known = ['-D', 'n=0', '-D', `base=${Date.now()}`]
  const files = scripts.flatMap((script) => ['-f', script])
  const { result, cpuMs } = await withPostgresCpu(url, () =>
    run('pgbench', [...how, ...known, ...files, url]),
  )
  const said = (what: RegExp) => Number(what.exec(result.stdout)?.[1])
  if (said(/number of failed transactions: (\d+)/) !== 0) throw new Error(result.stdout)
  return {
    perSecond: said(/^tps = ([\d.]+)/m),
    postgresMs: cpuMs / said(/transactions actually processed: (\d+)/),
  }
}

/** Catches a life of every pair, and writes it down for pgbench. */
export async function withScripts<T>(
  { url, app, pairs }: Market,
  work: (scripts: readonly string[]) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-orders-'))
  const pool = openPool({ url, maxConnections: 1 })
  try {
    const scripts: string[] = []
    for (const [n, pair] of pairs.entries()) {
      const statements = await statementsOf(url, (db) => app.live(pair, db))
      const script = join(folder, `life-${n}.sql`)
      await writeFile(script, await scriptOf(pool, statements))
      scripts.push(script)
    }
    return await work(scripts)
  } finally {
    await pool.end()
    await rm(folder, { recursive: true })
  }
}
