/** At most `max` calls in a window that starts with the first call. */
export interface LimitRule {
  readonly name: string
  readonly max: number
  readonly windowSeconds: number
}

/** A rule and for whom it counts. */
export interface Counter {
  readonly rule: LimitRule
  readonly subject: string
}

export interface LimitResult {
  readonly allowed: boolean
  readonly remaining: number
  /** Milliseconds until the window ends. */
  readonly resetsInMs: number
}

export interface Consumption {
  /** What the call counts for, 1 by default. */
  readonly cost?: number
  /** Counted in this order while the limit before allows it, so that one caller cannot use up its neighbours' calls. */
  readonly wider?: readonly Counter[]
}

/** The result of the limit that rejects the call, else of the first one. */
export interface Consumed extends LimitResult {
  /** The wider rule that rejects the call. */
  readonly rejectedBy?: LimitRule
}

export interface Limiter {
  /** A POST to it forgets all counts. Only `npm run dev` has one, and every 429 names it. */
  readonly resetUrl?: string | undefined
  consume(rule: LimitRule, subject: string, consumption?: Consumption): Promise<Consumed>
}
