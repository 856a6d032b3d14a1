import { readFileSync } from 'node:fs'
import { openPool } from '@market/database/connect'

/** Clock ticks of the kernel per second, as `getconf CLK_TCK` prints it on Linux. */
const TICKS = 100
const LOOK_EVERY_MS = 250

/**
 * Does the work, and adds up the processor time that the processes serving this database used meanwhile. They are looked
 * at again and again, for those of a client that leaves are gone with it.
 */
export async function withPostgresCpu<T>(
  url: string,
  work: () => Promise<T>,
): Promise<{ result: T; tookMs: number; cpuMs: number }> {
  const pool = openPool({ url, maxConnections: 1 })
  const seen = new Map<number, { first: number; last: number }>()
  const look = async () => {
    const { rows } = await pool.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    for (const { pid } of rows) {
      const used = cpuMsOf(pid)
      if (used !== undefined) seen.set(pid, { first: seen.get(pid)?.first ?? used, last: used })
    }
  }
  let looking = look()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, LOOK_EVERY_MS)
  try {
    await looking
    const began = performance.now()
    const result = await work()
    const tookMs = performance.now() - began
    clearInterval(timer)
    await looking.then(look)
    const cpuMs = [...seen.values()].reduce((sum, { first, last }) => sum + last - first, 0)
    return { result, tookMs, cpuMs }
  } finally {
    clearInterval(timer)
    await looking.catch(() => {})
    await pool.end()
  }
}

/** CPU time that a process has used so far; undefined when it has ended, or runs on another machine. */
export function cpuMsOf(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS
  } catch {
    return undefined
  }
}
