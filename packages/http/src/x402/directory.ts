import { parseAs } from '@market/handlers/parse'
import type { CatalogReader, Showing } from '@market/handlers/x402/catalog'
import type { Network } from '@market/kernel/network'
import { z } from 'zod'
import { directoryItem } from './directory-item.ts'

/** So deep can be read by offset: what an offset leaves out is read all the same. By cursor everything can be read. */
const MOST_LISTED = 3_000
const MOST_PER_PAGE = 100
const EXTENSIONS: readonly string[] = ['bazaar']

const word = z.string().max(200).optional()

/** More than there is on a page is a page; what other directories know and we do not is left unread. */
const filters = {
  type: word,
  payTo: word,
  scheme: word,
  network: word,
  extensions: word,
  limit: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1 on')
    .default('20')
    .transform((digits) => Math.min(Number(digits), MOST_PER_PAGE)),
}

const Listed = z.object({
  ...filters,
  offset: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number from 0 on')
    .default('0')
    .transform(Number),
})

const Searched = z.object({
  ...filters,
  query: z
    .string()
    .trim()
    .min(1, 'must say what to look for')
    .transform((said) => [...said.toWellFormed()].slice(0, MOST_LETTERS).join('')),
  cursor: z.string().max(300).optional(),
})

/** Sentences are asked here, not only words; what comes later than this adds little. */
const MOST_LETTERS = 100

type Filters = z.output<z.ZodObject<typeof filters>>

/** The networks on which all that is asked for holds; programs pay there by what they sign. */
function networksFor(
  { networks }: CatalogReader,
  { type, scheme, payTo, network, extensions }: Filters,
): Network[] {
  const holds =
    (type ?? 'http') === 'http' &&
    (scheme ?? 'exact') === 'exact' &&
    (extensions ?? '').split(',').every((name) => name.trim() === '' || EXTENSIONS.includes(name.trim()))
  if (!holds) return []
  const isAsked = (asked: string | undefined, ...names: readonly string[]) =>
    asked === undefined || names.some((name) => name.toLowerCase() === asked.toLowerCase())
  return networks.flatMap((open) =>
    open.caip2 !== undefined && isAsked(network, open.caip2, open.network) && isAsked(payTo, open.payTo)
      ? [open.network]
      : [],
  )
}

/** The Bazaar's list of resources. */
export function listDirectory(query: unknown): Showing {
  const asked = parseAs(Listed, query)
  const { offset } = asked
  return {
    key: `directory ${JSON.stringify(asked)}`,
    show: async (reader) => {
      const networks = networksFor(reader, asked)
      const limit = Math.min(asked.limit, MOST_LISTED - offset)
      const { items } = limit > 0 ? await reader.page({ networks, limit, offset }) : { items: [] }
      return JSON.stringify({
        x402Version: 2,
        items: items.map(directoryItem),
        pagination: { limit: asked.limit, offset, total: await reader.count(MOST_LISTED, networks) },
      })
    },
  }
}

/** Its twin for words. */
export function searchDirectory(query: unknown): Showing {
  const asked = parseAs(Searched, query)
  const { query: search, limit, cursor } = asked
  return {
    key: `search ${JSON.stringify(asked)}`,
    show: async (reader) => {
      const { items, nextCursor } = await reader.page({
        networks: networksFor(reader, asked),
        search,
        limit,
        cursor,
      })
      return JSON.stringify({
        x402Version: 2,
        resources: items.map(directoryItem),
        pagination: { limit, cursor: nextCursor },
      })
    },
  }
}
