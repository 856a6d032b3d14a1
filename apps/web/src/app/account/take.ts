export interface Taken<Item> {
  readonly items: readonly Item[]
  /** Whether there are no more. */
  readonly isAll: boolean
}

/** The first items of a list of the API. */
export async function takeFrom<Item>(list: AsyncIterable<Item>, max: number): Promise<Taken<Item>> {
  const items: Item[] = []
  for await (const item of list) {
    if (items.length === max) return { items, isAll: false }
    items.push(item)
  }
  return { items, isAll: true }
}
