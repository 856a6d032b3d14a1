export interface Clock {
  /** The marketplace's time, which every deadline follows. A development server can move it ahead. */
  now(): Date
  /** Real time, for what others check with their own clock: signatures, webhook timestamps, rate limits. */
  wallTime(): Date
}

export const systemClock: Clock = { now: () => new Date(), wallTime: () => new Date() }

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Time bounds for queries without a time limit. */
export const EVER = new Date(0)
export const FOREVER = new Date(8.64e15)

export const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)
export const earlier = (at: Date, ms: number): Date => new Date(at.getTime() - ms)
export const latest = (a: Date, b: Date): Date => new Date(Math.max(a.getTime(), b.getTime()))
