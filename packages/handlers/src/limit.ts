import { LIMITS, type LimitName } from '@market/contract/limits'
import type { Context } from '@market/core/context'
import type { Counter, Limiter, LimitResult, LimitRule } from '@market/core/ports/limiter'
import { ApiError } from '@market/kernel/api-error'
import { later } from '@market/kernel/clock'
import type { Call } from './call.ts'
import { networksOf, SHARES } from './networks.ts'

type LimitServices = { readonly limiter: Limiter } & Pick<Context, 'clock'>

/** For whom a call counts: its address or, over MCP, its credential and the client's address. */
export type Counted = Pick<Call, 'address' | 'client' | 'caller'>

export interface Limited {
  readonly headers: Record<string, string>
  readonly apiError?: ApiError
}

/** Counts the call and returns the rate-limit headers of its response, whether it is allowed or not. */
export async function limit(
  app: LimitServices,
  { limit: name }: { readonly limit: LimitName },
  counted: Counted,
  cost = 1,
): Promise<Limited> {
  const { rule, usage } = await count(app, name, counted, cost)
  const now = app.clock.wallTime()
  const headers = limitHeaders({
    max: rule.max,
    remaining: usage.allowed ? usage.remaining : 0,
    resetsAt: later(now, usage.resetsInMs),
  })
  if (usage.allowed) return { headers }
  return { headers, apiError: reached(app, `Too many requests: ${maximumOf(rule)}.`, rule, usage) }
}

/** Counts the call, and throws the 429 of the limit when it is used up. */
export async function enforceLimit(
  app: LimitServices,
  name: LimitName,
  counted: Counted,
  cost?: number,
): Promise<void> {
  const { apiError } = await limit(app, { limit: name }, counted, cost)
  if (apiError !== undefined) throw apiError
}

/** Throws the 429 of the limit when it is used up. `message` says what was counted and how many are allowed. */
export async function spend(
  app: LimitServices,
  name: LimitName,
  counted: Counted,
  message: (maximum: string) => string,
): Promise<void> {
  const { rule, usage } = await count(app, name, counted)
  if (!usage.allowed) throw reached(app, message(maximumOf(rule)), rule, usage)
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

function reached(
  { limiter, clock }: LimitServices,
  message: string,
  rule: LimitRule,
  usage: LimitResult,
): ApiError {
  const { resetUrl } = limiter
  // fix: limit-names-reset
  const more =
    resetUrl === undefined ? '' : `To allow more on this machine, run \`curl -X POST ${resetUrl}\`.`
  return limitReached(message, rule, usage, clock.wallTime(), more)
}

/** The 429 of a limit. Its headers describe this limit and replace those of the operation. */
export function limitReached(
  message: string,
  { max }: Pick<LimitRule, 'max'>,
  { resetsInMs }: Pick<LimitResult, 'resetsInMs'>,
  now: Date,
  more = '',
): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / 1_000))
  return new ApiError(
    'rate_limited',
    `${message} Try again in ${retryAfterSeconds} seconds. ${more}`.trimEnd(),
    {
      retryAfterSeconds,
      limit: { max, resetsAt: later(now, resetsInMs) },
    },
  )
}

type LimitCounter = Counter & { readonly rule: LimitRule & { readonly of: string } }

/** Returns the rule that rejects the call, else the first one. */
async function count(
  { limiter }: LimitServices,
  name: LimitName,
  counted: Counted,
  cost = 1,
): Promise<{ rule: LimitCounter['rule']; usage: LimitResult }> {
  const [{ rule, subject }, ...wider] = countersOf(name, counted)
  const { rejectedBy, ...usage } = await limiter.consume(rule, subject, { cost, wider })
  return { rule: (rejectedBy as LimitCounter['rule'] | undefined) ?? rule, usage }
}

const OF = { address: ' from this address', 56: ' from this /56 network', 48: ' from this /48 network' }

function countersOf(
  name: LimitName,
  { address, client, caller }: Counted,
): readonly [LimitCounter, ...LimitCounter[]] {
  const { max, windowSeconds } = LIMITS[name]
  const counter = (suffix: string, of: string, times: number, subject: string): LimitCounter => ({
    rule: { name: `${name}${suffix}`, max: max * times, windowSeconds, of },
    subject,
  })
  if (client === undefined) {
    const [own, ...wider] = networksOf(address)
    const first = counter('', '', SHARES.address.address, own.subject)
    return [
      first,
      ...wider.map(({ kind, subject }) => counter(`/${kind}`, OF[kind], SHARES.address[kind], subject)),
    ]
  }
  const share = caller?.scopes === undefined ? 'key' : 'connection'
  const networks = networksOf(client).map(({ kind, subject }) =>
    counter(`/${share}/${kind}`, OF[kind], SHARES[share][kind], subject),
  )
  // fix: keys-share-address
  return [counter('', '', SHARES[share].credential, address), ...networks]
}

const maximumOf = ({ max, windowSeconds, of }: LimitCounter['rule']): string =>
  `at most ${max} in ${formatWindow(windowSeconds)}${of}`

function formatWindow(seconds: number): string {
  if (seconds % 3_600 === 0) return seconds === 3_600 ? 'an hour' : `${seconds / 3_600} hours`
  return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`
}
