import { createHash } from 'node:crypto'
import type { Limiter, LimitRule } from '@market/market/ports/limiter'
import { Redis } from 'ioredis'
import { localWindows, takenOf } from './local-windows.ts'

export interface RedisLimiterSettings {
  readonly url: string
  /** Put before every key, so that several installations can share one Redis. */
  readonly prefix: string
  /** Called once for every call that was decided without Redis. */
  onFallback(): void
  readonly log?: { warn(details: object, message: string): void }
}

export interface RedisLimiter extends Limiter {
  /** Whether Redis answers now. */
  ready(): Promise<boolean>
  stop(): Promise<void>
}

const ANSWER_WITHIN_MS = 150
/** A connection that owes an answer for this long is dropped; until it is back, calls fall back at once. */
const DEAD_AFTER_MS = 1_000
const LONGEST_RETRY_MS = 1_000
const LOCAL_WINDOWS = 100_000
const LONGEST_SUBJECT = 128

// One step inside Redis, so that the count is exact over any number of processes. A key without an
// expiry would lock its subject out for ever: it gets one, however it came about.
const TAKE = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}`

const TAKE_SHA = createHash('sha1').update(TAKE).digest('hex')

/** Rate limits counted in Redis; while it is away each process counts by itself, with the same numbers. */
export function redisLimiter(settings: RedisLimiterSettings): RedisLimiter {
  const redis = new Redis(settings.url, {
    connectTimeout: DEAD_AFTER_MS,
    commandTimeout: DEAD_AFTER_MS,
    socketTimeout: DEAD_AFTER_MS,
    disconnectTimeout: 100,
    enableOfflineQueue: false,
    // Calls of one moment share one write: measured, it brings a tenth more answers a second.
    enableAutoPipelining: true,
    // A command sent again after a lost connection could be counted twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_RETRY_MS),
  })
  const local = localWindows(LOCAL_WINDOWS)

  // Without this the first calls after a start would count locally although Redis is there.
  const firstConnection = new Promise<void>((resolve) => {
    redis.once('ready', resolve)
    redis.once('close', resolve)
  })

  let away = false
  function noteAway(error: unknown): void {
    if (away) return
    away = true
    settings.log?.warn({ err: error }, 'redis is away: rate limits are counted per process')
  }
  redis.on('ready', () => {
    away = false
  })
  redis.on('error', noteAway)

  async function countInRedis(key: string, windowMs: number): Promise<Counted> {
    await firstConnection
    try {
      return countedOf(await redis.evalsha(TAKE_SHA, 1, key, windowMs))
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return countedOf(await redis.eval(TAKE, 1, key, windowMs))
    }
  }

  return {
    async take(rule, subject) {
      const key = keyOf(settings.prefix, rule, subject)
      try {
        const { count, leftMs } = await within(
          ANSWER_WITHIN_MS,
          countInRedis(key, Math.ceil(rule.windowSeconds * 1_000)),
        )
        local.remember(key, count, leftMs)
        return takenOf(rule, count, leftMs)
      } catch (error) {
        noteAway(error)
        settings.onFallback()
        return local.take(key, rule)
      }
    },

    async ready() {
      try {
        const answer = firstConnection.then(() => redis.ping())
        return (await within(DEAD_AFTER_MS, answer)) === 'PONG'
      } catch {
        return false
      }
    },

    async stop() {
      // Between two attempts there is no connection whose end could be awaited.
      const connected = redis.status !== 'end' && redis.status !== 'reconnecting'
      const ended = new Promise<void>((resolve) => redis.once('end', resolve))
      redis.disconnect()
      if (connected) await ended
    },
  }
}

interface Counted {
  readonly count: number
  readonly leftMs: number
}

function countedOf(reply: unknown): Counted {
  const [count, leftMs] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (typeof count !== 'number' || typeof leftMs !== 'number') throw new Error('unexpected answer from redis')
  return { count, leftMs }
}

function keyOf(prefix: string, rule: LimitRule, subject: string): string {
  const short =
    subject.length <= LONGEST_SUBJECT ? subject : createHash('sha256').update(subject).digest('base64url')
  return `${prefix}limit:${rule.name}|${short}`
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    // After a stall of our own the answer may already lie in the socket: it is read before we give up.
    const timer = setTimeout(() => setImmediate(reject, new Error(`no answer within ${ms} ms`)), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
