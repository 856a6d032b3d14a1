/** At most `max` calls in a window that starts with the first call. */
export interface LimitRule {
  readonly name: string
  readonly max: number
  readonly windowSeconds: number
}

export interface LimitResult {
  readonly allowed: boolean
  readonly remaining: number
  /** Milliseconds until the window ends. */
  readonly resetsInMs: number
}

export interface Limiter {
  consume(rule: LimitRule, subject: string): Promise<LimitResult>
}
