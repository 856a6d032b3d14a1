export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)
export const earlier = (at: Date, ms: number): Date => new Date(at.getTime() - ms)
