import type { Needs } from '@market/core/context'
import { freeForgotten, freeSilent, sayAlive, sayGoodbye } from '@market/core/queue'

const BEAT_MS = 1_000

interface HeartbeatLog {
  warn(fields: object, message: string): void
}

/** The pools of this process, and the jobs they know to be theirs. */
export interface Held {
  readonly poolIds: ReadonlySet<string>
  readonly jobIds: ReadonlySet<string>
}

/**
 * Every living worker says so each second, frees what is held by those who no longer do, and gives back what is held in
 * its own name without its knowing.
 */
export function keepHeartbeat(ctx: Needs<'db'>, held: Held, log: HeartbeatLog) {
  const { poolIds } = held
  let beating = false
  const beat = async () => {
    if (beating || poolIds.size === 0) return
    beating = true
    try {
      await sayAlive(ctx, [...poolIds])
      const forgotten = await freeForgotten(ctx, [...poolIds], [...held.jobIds])
      if (forgotten > 0) log.warn({ jobs: forgotten }, 'gave back jobs that never arrived here')
      const freed = await freeSilent(ctx)
      if (freed.length > 0) log.warn({ pools: freed }, 'freed the jobs of workers that are silent')
    } catch (error) {
      log.warn({ err: error }, 'heartbeat failed')
    } finally {
      beating = false
    }
  }
  const timer = setInterval(beat, BEAT_MS)
  return {
    beat,
    stop: async () => {
      clearInterval(timer)
      if (poolIds.size > 0) await sayGoodbye(ctx, [...poolIds]).catch(() => undefined)
    },
  }
}
