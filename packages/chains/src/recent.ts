/** Reads once for all who ask within a few milliseconds. A reading that failed is not kept. */
export const recent = <Result>(keptMs: number, read: () => Promise<Result>): (() => Promise<Result>) => {
  let last: { readonly result: Promise<Result>; readonly until: number } | undefined
  return () => {
    if (last !== undefined && performance.now() < last.until) return last.result
    const reading = { result: read(), until: performance.now() + keptMs }
    last = reading
    reading.result.catch(() => {
      if (last === reading) last = undefined
    })
    return reading.result
  }
}

/** Reads once for each of the newest keys. A reading that failed is not kept. */
export const recentOf = <Result>(
  keys: number,
  read: (key: string) => Promise<Result>,
): ((key: string) => Promise<Result>) => {
  const known = new Map<string, Promise<Result>>()
  return (key) => {
    const result = known.get(key) ?? read(key)
    known.set(key, result)
    result.catch(() => known.delete(key))
    const [oldest] = known.keys()
    if (known.size > keys && oldest !== undefined) known.delete(oldest)
    return result
  }
}
