const DEFAULT_SIZE = 64

/** Returns the cached value of a key, or makes it. Concurrent calls with the same key share one `make`. */
export type TtlCache<T> = (key: string, make: () => Promise<T>) => Promise<T>

interface CacheSettings {
  readonly size?: number
  readonly clock?: () => number
}

/** Caches values for `ms`. When it is full, the oldest entry is removed. */
export function ttlCache<T>(
  ms: number,
  { size = DEFAULT_SIZE, clock = () => performance.now() }: CacheSettings = {},
): TtlCache<T> {
  const entries = new Map<string, { readonly until: number; readonly value: Promise<T> }>()
  return (key, make) => {
    const now = clock()
    const found = entries.get(key)
    if (found !== undefined && found.until > now) return found.value
    const value = make()
    entries.delete(key)
    entries.set(key, { until: now + ms, value })
    // A failure is not cached.
    value.catch(() => entries.get(key)?.value === value && entries.delete(key))
    const [oldest] = entries.keys()
    if (entries.size > size && oldest !== undefined) entries.delete(oldest)
    return value
  }
}
