import { LIMITS, type Limit, type LimitName } from '@market/contract/limits'
import type { Context } from '@market/core/context'
import type { Limiter, LimitResult, LimitRule } from '@market/core/ports/limiter'
import { ApiError } from '@market/kernel/api-error'
import { later } from '@market/kernel/clock'
import { widerNetworks } from './wider-networks.ts'

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
  const { rule, usage } = await consume(limiter, name, address)
  const now = clock.wallTime()
  const headers = limitHeaders({
    max: rule.max,
    remaining: usage.allowed ? usage.remaining : 0,
    resetsAt: later(now, usage.resetsInMs),
  })
  if (usage.allowed) return { headers }
  const message = `Too many requests: at most ${rule.max} in ${formatWindow(rule.windowSeconds)}.`
  return { headers, apiError: limitReached(message, rule, usage, now) }
}

interface LimitState {
  readonly max: number
  readonly remaining: number
  readonly resetsAt: Date
}

export const limitHeaders = ({ max, remaining, resetsAt }: LimitState) => ({
  'X-RateLimit-Limit': String(max),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(Math.ceil(resetsAt.getTime() / 1_000)),
})

/** The 429 of a limit. Its headers describe this limit and replace those of the operation. */
export function limitReached(
  message: string,
  { max }: Pick<LimitRule, 'max'>,
  { resetsInMs }: Pick<LimitResult, 'resetsInMs'>,
  now: Date,
): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / 1_000))
  return new ApiError('rate_limited', `${message} Try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
    limit: { max, resetsAt: later(now, resetsInMs) },
  })
}

/** Returns the rule that rejects the call, else the rule of the address itself. */
async function consume(
  limiter: Limiter,
  name: LimitName,
  address: string,
): Promise<{ rule: LimitRule; usage: LimitResult }> {
  const { networks, ...limits }: Limit = LIMITS[name]
  const rule = { name, ...limits }
  const usage = await limiter.consume(rule, address)
  if (networks === undefined || !usage.allowed) return { rule, usage }
  // A rejected call does not count for the wider network, so that one client cannot use up its neighbours' calls.
  for (const { bits, network } of widerNetworks(address)) {
    const wider = { ...rule, name: `${name}/${bits}`, max: networks[bits] }
    const widerUsage = await limiter.consume(wider, network)
    if (!widerUsage.allowed) return { rule: wider, usage: widerUsage }
  }
  return { rule, usage }
}

export function formatWindow(seconds: number): string {
  if (seconds % 3_600 === 0) return seconds === 3_600 ? 'an hour' : `${seconds / 3_600} hours`
  return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`
}
