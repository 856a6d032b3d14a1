import { createHash } from 'node:crypto'
import type { Consumed, Counter, Limiter, LimitResult, LimitRule } from '@market/core/ports/limiter'
import DataLoader from 'dataloader'
import { Redis } from 'ioredis'
import { localWindows, takenOf } from './local-windows.ts'

export interface RedisLimiterSettings {
  readonly url: string
  /** Prefix of every key, so that several installations can share one Redis. */
  readonly prefix: string
  readonly resetUrl?: string | undefined
  /** Called for every call that was decided without Redis. */
  onFallback(): void
  readonly log?: { warn(details: object, message: string): void }
}

export interface RedisLimiter extends Limiter {
  /** Whether Redis responds now. */
  ready(): Promise<boolean>
  stop(): Promise<void>
}

const ANSWER_WITHIN_MS = 150
/** A connection without a response for this long is closed. Until it is open again, calls use the fallback at once. */
const DEAD_AFTER_MS = 1_000
const LONGEST_RETRY_MS = 1_000
const LOCAL_WINDOWS = 100_000
const LONGEST_SUBJECT = 128

// One script inside Redis for all requests of one turn of the event loop, so that each count is exact over any number of
// processes. A key without an expiry would block its subject for ever, so it always gets one. The keys of one call can
// be in different slots: this needs one Redis (with replicas), not a Redis Cluster. The windows of one call follow each
// other, and after one that rejects it the others do not count.
const TAKE = `
local taken = {}
local rejected = false
for at, key in ipairs(KEYS) do
  local ms, max, cost, first = unpack(ARGV, at * 4 - 3, at * 4)
  if first == '1' then rejected = false end
  if rejected then
    taken[at] = {0, 0}
  else
    local count = redis.call('INCRBY', key, cost)
    local left = redis.call('PTTL', key)
    if left < 0 then
      redis.call('PEXPIRE', key, ms)
      left = tonumber(ms)
    end
    rejected = count > tonumber(max)
    taken[at] = {count, left}
  end
end
return taken`
const MAX_BATCH = 128

const TAKE_SHA = createHash('sha1').update(TAKE).digest('hex')

/** Rate limits counted in Redis. While it is unavailable, each process counts locally with the same limits. */
export function redisLimiter(settings: RedisLimiterSettings): RedisLimiter {
  const redis = new Redis(settings.url, {
    connectTimeout: DEAD_AFTER_MS,
    commandTimeout: DEAD_AFTER_MS,
    socketTimeout: DEAD_AFTER_MS,
    disconnectTimeout: 100,
    enableOfflineQueue: false,
    // A command sent again after a lost connection could be counted twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_RETRY_MS),
  })
  const local = localWindows(LOCAL_WINDOWS)

  // Otherwise the first calls after a start would be counted locally.
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

  async function countInRedis(calls: readonly Window[][]): Promise<Counted[][]> {
    await firstConnection
    const keys = calls.flatMap((windows) => windows.map(({ key }) => key))
    const args = calls.flatMap((windows) => windows.flatMap(argumentsOf))
    try {
      return countedOf(calls, await redis.evalsha(TAKE_SHA, keys.length, ...keys, ...args))
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return countedOf(calls, await redis.eval(TAKE, keys.length, ...keys, ...args))
    }
  }

  const counts = new DataLoader<Window[], Counted[]>(
    (calls) => within(ANSWER_WITHIN_MS, countInRedis(calls)),
    // Every request counts, so nothing is cached; the batch closes at the end of the event loop's turn.
    { cache: false, maxBatchSize: MAX_BATCH, batchScheduleFn: (run) => void setImmediate(run) },
  )

  return {
    resetUrl: settings.resetUrl,
    async consume(rule, subject, { cost = 1, wider = [] } = {}) {
      const counters = [{ rule, subject }, ...wider]
      const windows = counters.map((one) => windowOf(settings.prefix, one, cost))
      try {
        const counted = await counts.load(windows)
        return resultOf(windows, (window, at) => {
          const { count, leftMs } = counted[at] as Counted
          local.remember(window.key, count, leftMs)
          return takenOf(window.rule, count, leftMs)
        })
      } catch (error) {
        noteAway(error)
        settings.onFallback()
        return resultOf(windows, (window) => local.take(window.key, window.rule, cost))
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
      // Between two connection attempts there is no connection to wait for.
      const connected = redis.status !== 'end' && redis.status !== 'reconnecting'
      const ended = new Promise<void>((resolve) => redis.once('end', resolve))
      redis.disconnect()
      if (connected) await ended
    },
  }
}

interface Window {
  readonly key: string
  readonly rule: LimitRule
  readonly cost: number
}

interface Counted {
  readonly count: number
  readonly leftMs: number
}

const windowOf = (prefix: string, { rule, subject }: Counter, cost: number): Window => ({
  key: keyOf(prefix, rule, subject),
  rule,
  cost,
})

const argumentsOf = ({ rule, cost }: Window, at: number): number[] => [
  Math.ceil(rule.windowSeconds * 1_000),
  rule.max,
  cost,
  at === 0 ? 1 : 0,
]

/** The result of the first window that rejects the call, else of the first one. */
function resultOf(windows: readonly Window[], take: (window: Window, at: number) => LimitResult): Consumed {
  const [first, ...wider] = windows as [Window, ...Window[]]
  const result = take(first, 0)
  if (!result.allowed) return result
  for (const [at, window] of wider.entries()) {
    const taken = take(window, at + 1)
    if (!taken.allowed) return { ...taken, rejectedBy: window.rule }
  }
  return result
}

function countedOf(calls: readonly (readonly Window[])[], reply: unknown): Counted[][] {
  const taken: readonly unknown[] = Array.isArray(reply) ? reply : []
  let at = 0
  return calls.map((windows) =>
    windows.map(() => {
      const [count, leftMs] = (taken[at++] ?? []) as readonly unknown[]
      if (typeof count !== 'number' || typeof leftMs !== 'number')
        throw new Error('unexpected response from Redis')
      return { count, leftMs }
    }),
  )
}

function keyOf(prefix: string, rule: LimitRule, subject: string): string {
  const short =
    subject.length <= LONGEST_SUBJECT ? subject : createHash('sha256').update(subject).digest('base64url')
  return `${prefix}limit:${rule.name}|${short}`
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    // If this process was blocked, the response may already be in the socket. It is read before the timeout.
    const timer = setTimeout(() => setImmediate(reject, new Error(`no response within ${ms} ms`)), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
