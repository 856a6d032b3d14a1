/** How large the items of a response may become. */
export interface ByteBudget {
  readonly bytes: number
  /** The bytes that an item takes in the response, from its JSON. */
  readonly bytesOf: (json: string) => number
}

const MB = 1024 * 1024

/** A page of REST ends here, with its `next_cursor`, whatever its `limit` is. */
export const REST_BUDGET: ByteBudget = { bytes: MB, bytesOf: (json) => Buffer.byteLength(json) }

/** The JSON of the first items that fit; of at least one, so that every item can be read. */
export function fitting(
  items: readonly unknown[],
  { bytes, bytesOf }: ByteBudget,
  jsonOf: (item: unknown) => string = JSON.stringify,
): string[] {
  const texts: string[] = []
  let used = 0
  for (const item of items) {
    const text = jsonOf(item)
    used += bytesOf(text) + 1
    // fix: page-budget
    if (used > bytes && texts.length > 0) break
    texts.push(text)
  }
  return texts
}
