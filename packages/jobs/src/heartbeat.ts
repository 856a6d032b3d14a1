import type { Needs } from '@market/core/context'
import {
  recordHeartbeat,
  releaseJobsOfDeadWorkers,
  releaseLostJobs,
  removeHeartbeat,
} from '@market/core/queue'

const BEAT_MS = 1_000

interface HeartbeatLog {
  warn(fields: object, message: string): void
}

/** The worker pools of this process and the jobs that they received. */
export interface OwnJobs {
  readonly poolIds: ReadonlySet<string>
  readonly jobIds: ReadonlySet<string>
}

/** What a process does with each heartbeat, and how often at least. It does not reject. */
export interface BeatWork {
  readonly everyMs: number
  readonly run: () => Promise<void>
}

/** Every second, records the heartbeat of this process and releases the jobs of dead workers and its own lost jobs. */
export function startHeartbeat(ctx: Needs<'db'>, own: OwnJobs, log: HeartbeatLog, work?: BeatWork) {
  const { poolIds } = own
  let beating = false
  const beat = async () => {
    if (beating || poolIds.size === 0) return
    beating = true
    try {
      await recordHeartbeat(ctx, [...poolIds])
      const lost = await releaseLostJobs(ctx, [...poolIds], [...own.jobIds])
      if (lost > 0) log.warn({ jobs: lost }, 'released jobs that this worker had locked but never received')
      const dead = await releaseJobsOfDeadWorkers(ctx)
      if (dead.length > 0) log.warn({ pools: dead }, 'released the jobs of dead workers')
      await work?.run()
    } catch (error) {
      log.warn({ err: error }, 'heartbeat failed')
    } finally {
      beating = false
    }
  }
  const timer = setInterval(beat, Math.min(BEAT_MS, work?.everyMs ?? BEAT_MS))
  return {
    beat,
    stop: async () => {
      clearInterval(timer)
      if (poolIds.size > 0) await removeHeartbeat(ctx, [...poolIds]).catch(() => undefined)
    },
  }
}
