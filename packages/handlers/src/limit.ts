import { LIMITS, type Limit, type LimitName } from '@market/contract/limits'
import type { Context } from '@market/core/context'
import type { Limiter, LimitResult, LimitRule } from '@market/core/ports/limiter'
import { ApiError } from '@market/kernel/api-error'
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
