/** At most `max` calls in a window that opens with the first of them. */
export interface LimitRule {
  readonly name: string
  readonly max: number
  readonly windowSeconds: number
}

export interface Taken {
  readonly allowed: boolean
  readonly remaining: number
  /** Milliseconds until the window closes. */
  readonly resetsInMs: number
}

export interface Limiter {
  take(rule: LimitRule, subject: string): Promise<Taken>
}
