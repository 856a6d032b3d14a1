const DEFAULT_SIZE = 64

/** Returns the cached value of a key, or makes it. Concurrent calls with the same key share one `make`. */
export type TtlCache<T> = (key: string, make: () => Promise<T>) => Promise<T>

interface CacheSettings<T> {
  /** How large all entries together may be. */
  readonly size?: number
  /** The size of an entry, of which the value is not known while it is made. By default each has 1. */
  readonly sizeOf?: (key: string, value: T | undefined) => number
  readonly clock?: () => number
}

interface Entry<T> {
  readonly until: number
  readonly value: Promise<T>
  size: number
}

/** Caches values for `ms`, which begins before they are made. When it is full, the oldest entries are removed. */
export function ttlCache<T>(
  ms: number,
  { size: maxSize = DEFAULT_SIZE, sizeOf = () => 1, clock = () => performance.now() }: CacheSettings<T> = {},
): TtlCache<T> {
  // Oldest first.
  const entries = new Map<string, Entry<T>>()
  let total = 0
  const resize = (entry: Entry<T>, size: number) => {
    total += size - entry.size
    entry.size = size
  }
  const remove = (key: string, entry: Entry<T>) => {
    if (entries.get(key) !== entry) return
    entries.delete(key)
    total -= entry.size
  }
  const tidy = (now: number) => {
    for (const [key, entry] of entries) {
      if (total <= maxSize && entry.until > now) return
      remove(key, entry)
    }
  }
  return (key, make) => {
    const now = clock()
    const found = entries.get(key)
    if (found !== undefined && found.until > now) return found.value
    if (found !== undefined) remove(key, found)
    const value = make()
    const entry = { until: now + ms, value, size: 0 }
    entries.set(key, entry)
    resize(entry, sizeOf(key, undefined))
    tidy(now)
    // A failure is not cached.
    // fix: errors-not-kept
    value.catch(() => remove(key, entry))
    value.then(
      (made) => {
        if (entries.get(key) !== entry) return
        // fix: cache-bytes
        resize(entry, sizeOf(key, made))
        tidy(clock())
      },
      () => {},
    )
    return value
  }
}
