import { DAY, earlier, HOUR } from '@market/kernel/clock'
import type { PricePoint } from './store.ts'

/** The rate of the last days: of a longer time it would hide that a rate has changed. */
const WINDOW_MS = 7 * DAY
/** The prices of a shorter time say more about rounding than about a rate. */
const LEAST_MS = 1 * HOUR
const YEAR_MS = 365 * DAY

export const rateSince = (now: Date): Date => earlier(now, WINDOW_MS)

/**
 * The rate of a year in percent with two decimals, without compound interest: what the price of a share gained or lost
 * between the first and the last point of seven days. Null when they do not span an hour.
 */
export function aprOf(points: readonly PricePoint[], now: Date): number | null {
  const since = rateSince(now)
  const inWindow = points.filter(({ at }) => at >= since).sort((a, b) => a.at.getTime() - b.at.getTime())
  const [first, last] = [inWindow[0], inWindow.at(-1)]
  if (first === undefined || last === undefined || first.price === 0n) return null
  const span = last.at.getTime() - first.at.getTime()
  if (span < LEAST_MS) return null
  // In millionths of a percent, then rounded; `+ 0` makes minus zero a zero.
  const gained = (last.price - first.price) * BigInt(YEAR_MS) * 100_000_000n
  const rate = Number(gained / (first.price * BigInt(span)))
  return Math.round(rate / 10_000) / 100 + 0
}
