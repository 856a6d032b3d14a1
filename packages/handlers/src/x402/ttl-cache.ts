/** So many answers are kept unless said otherwise; the oldest goes first. */
const MOST = 64

type Keep<T> = (key: string, make: () => Promise<T>) => Promise<T>

interface KeepSettings {
  readonly most?: number
  readonly clock?: () => number
}

/** Keeps what was made for a moment: however many ask the same meanwhile, the database is asked once. */
export function ttlCache<T>(
  ms: number,
  { most = MOST, clock = () => performance.now() }: KeepSettings = {},
): Keep<T> {
  const kept = new Map<string, { readonly until: number; readonly made: Promise<T> }>()
  return (key, make) => {
    const now = clock()
    const found = kept.get(key)
    if (found !== undefined && found.until > now) return found.made
    const made = make()
    kept.delete(key)
    kept.set(key, { until: now + ms, made })
    // What failed is tried again by whoever asks next.
    made.catch(() => kept.get(key)?.made === made && kept.delete(key))
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    return made
  }
}
