/** How large the items of a response may become. */
export interface ByteBudget {
  readonly bytes: number
  /** The bytes that an item takes in the response, from its JSON and that as bytes. */
  readonly bytesOf: (json: string, encoded: Buffer) => number
  /** How many rows of a list are read at a time, where the budget is much smaller than the largest page. */
  readonly partRows?: number
}

const MB = 1024 * 1024

/** A page of REST ends here, with its `next_cursor`, whatever its `limit` is. */
export const REST_BUDGET: ByteBudget = { bytes: MB, bytesOf: (_, { length }) => length }

/** Collects the JSON of the first items that fit, as bytes; of at least one, so that every item can be read. */
export function collector({ bytes, bytesOf }: ByteBudget) {
  const encodedItems: Buffer[] = []
  let used = 0
  let isFull = false
  return {
    encodedItems: encodedItems as readonly Buffer[],
    /** Whether the item fits. Nothing fits after one that did not. */
    add(json: string): boolean {
      const encoded = Buffer.from(json)
      used += bytesOf(json, encoded) + 1
      // fix: page-budget
      if (used > bytes && encodedItems.length > 0) isFull = true
      if (!isFull) encodedItems.push(encoded)
      return !isFull
    },
    get isFull() {
      return isFull
    },
  }
}

/** The first items that fit. */
export function fitting<Item>(items: readonly Item[], budget: ByteBudget): Item[] {
  const { add } = collector(budget)
  const end = items.findIndex((item) => !add(JSON.stringify(item)))
  return items.slice(0, end === -1 ? undefined : end)
}
