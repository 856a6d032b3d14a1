interface Page<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

/** A request for the first page that starts when it is awaited, or all items when it is iterated. */
export function iterate<Item>(readPage: (cursor?: string) => Promise<Page<Item>>) {
  let first: Promise<Page<Item>> | undefined
  const start = () => {
    first ??= readPage()
    return first
  }
  async function* items() {
    let page = await start()
    yield* page.data
    while (page.next_cursor !== null) {
      page = await readPage(page.next_cursor)
      yield* page.data
    }
  }
  const promise: Promise<Page<Item>> = {
    // biome-ignore lint/suspicious/noThenProperty: it is awaited for the first page.
    then: (resolve, reject) => start().then(resolve, reject),
    catch: (reject) => start().catch(reject),
    finally: (settle) => start().finally(settle),
    [Symbol.toStringTag]: 'Promise',
  }
  return Object.assign(promise, { [Symbol.asyncIterator]: items })
}
