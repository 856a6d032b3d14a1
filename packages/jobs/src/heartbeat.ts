import type { Needs } from '@market/market/context'
import { freeSilent, sayAlive, sayGoodbye } from '@market/market/queue'

const BEAT_MS = 1_000

interface HeartbeatLog {
  warn(fields: object, message: string): void
}

/** Every living worker says so each second, and frees what is held by those who no longer do. */
export function keepHeartbeat(ctx: Needs<'db'>, poolIds: ReadonlySet<string>, log: HeartbeatLog) {
  let beating = false
  const beat = async () => {
    if (beating || poolIds.size === 0) return
    beating = true
    try {
      await sayAlive(ctx, [...poolIds])
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
