import { LIMITS, type LimitName } from '@market/contract/limits'
import type { Context } from '@market/core/context'
import type { Limiter } from '@market/core/ports/limiter'
import { ApiError } from '@market/kernel/api-error'

export interface Limited {
  readonly headers: Record<string, string>
  readonly apiError?: ApiError
}

/** Counts the call and returns the rate-limit headers of its response, whether it is allowed or not. */
export async function limit(
  { limiter, clock }: { limiter: Limiter } & Pick<Context, 'clock'>,
  { limit: name }: { readonly limit: LimitName },
  address: string,
): Promise<Limited> {
  const rule = LIMITS[name]
  const usage = await limiter.consume({ name, ...rule }, address)
  const resetSeconds = Math.max(1, Math.ceil(usage.resetsInMs / 1_000))
  const headers = {
    'X-RateLimit-Limit': String(rule.max),
    'X-RateLimit-Remaining': String(usage.allowed ? usage.remaining : 0),
    'X-RateLimit-Reset': String(Math.ceil((clock.wallTime().getTime() + usage.resetsInMs) / 1_000)),
  }
  if (usage.allowed) return { headers }
  const apiError = new ApiError(
    'rate_limited',
    `Too many requests: at most ${rule.max} in ${formatWindow(rule.windowSeconds)}. Try again in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds },
  )
  return { headers, apiError }
}

export function formatWindow(seconds: number): string {
  if (seconds % 3_600 === 0) return seconds === 3_600 ? 'an hour' : `${seconds / 3_600} hours`
  return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`
}
