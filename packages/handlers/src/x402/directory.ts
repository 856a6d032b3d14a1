import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import type { Network } from '@market/kernel/network'
import type { CatalogDocument, CatalogReader } from './catalog.ts'
import { directoryItem } from './directory-item.ts'

/** Offsets are limited, because the database reads all skipped rows. By cursor everything can be read. */
const MOST_LISTED = 3_000
const MOST_CHARACTERS = 100
const EXTENSIONS: readonly string[] = ['bazaar']

type ListInput = InputOf<Operations['listDirectory']>
type SearchInput = InputOf<Operations['searchDirectory']>

/** The networks that match all filters and accept signed payments. */
function networksFor(
  { networks }: CatalogReader,
  { type, scheme, payTo, network, extensions }: ListInput | SearchInput,
): Network[] {
  const isServed =
    (type ?? 'http') === 'http' &&
    (scheme ?? 'exact') === 'exact' &&
    (extensions ?? '').split(',').every((name) => name.trim() === '' || EXTENSIONS.includes(name.trim()))
  if (!isServed) return []
  const matches = (filter: string | undefined, ...names: readonly string[]) =>
    filter === undefined || names.some((name) => name.toLowerCase() === filter.toLowerCase())
  return networks.flatMap((open) =>
    open.caip2 !== undefined && matches(network, open.caip2, open.network) && matches(payTo, open.payTo)
      ? [open.network]
      : [],
  )
}

export const directoryList = (input: ListInput): CatalogDocument => ({
  key: `directory ${JSON.stringify(input)}`,
  build: async (reader) => {
    const { offset } = input
    const networks = networksFor(reader, input)
    const limit = Math.min(input.limit, MOST_LISTED - offset)
    const { items } = limit > 0 ? await reader.page({ networks, limit, offset }) : { items: [] }
    return {
      x402Version: 2,
      items: items.map(directoryItem),
      pagination: { limit: input.limit, offset, total: await reader.count(MOST_LISTED, networks) },
    }
  },
})

export const directorySearch = (input: SearchInput): CatalogDocument => ({
  key: `search ${JSON.stringify(input)}`,
  build: async (reader) => {
    const { query, limit, cursor } = input
    const search = [...query.toWellFormed()].slice(0, MOST_CHARACTERS).join('')
    const page = await reader.page({ networks: networksFor(reader, input), search, limit, cursor })
    return {
      x402Version: 2,
      resources: page.items.map(directoryItem),
      pagination: { limit, cursor: page.nextCursor },
    }
  },
})
