interface Part {
  readonly count: number
  readonly unit: 'd' | 'h' | 'min'
}

const MINUTE_MS = 60_000

/** The time until a deadline in its two largest units: 1 d 7 h, 3 h 5 min, 12 min. Never negative. */
export function remaining(at: string, now: number): readonly Part[] {
  const minutes = Math.max(0, Math.ceil((Date.parse(at) - now) / MINUTE_MS))
  const days = Math.floor(minutes / 1_440)
  const hours = Math.floor((minutes % 1_440) / 60)
  const rest = minutes % 60
  if (days > 0) return partsOf({ count: days, unit: 'd' }, { count: hours, unit: 'h' })
  if (hours > 0) return partsOf({ count: hours, unit: 'h' }, { count: rest, unit: 'min' })
  return [{ count: rest, unit: 'min' }]
}

const partsOf = (large: Part, small: Part): readonly Part[] => (small.count === 0 ? [large] : [large, small])
