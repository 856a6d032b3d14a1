import type { FastifyRequest } from 'fastify'
import type { ServiceFilter } from './app/service-filter.ts'

const FILTER: Readonly<Record<keyof ServiceFilter, true>> = {
  search: true,
  category: true,
  price_type: true,
  min_price: true,
  max_price: true,
  network: true,
  max_turnaround_hours: true,
  sort: true,
  cursor: true,
}

const PURCHASE = '/o/:order'

/** The pages with the parameters that they read. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': Object.keys(FILTER),
  '/s/:agent/:service': [],
  '/agents': ['search', 'cursor'],
  '/a/:agent': [],
  '/bounties': ['search', 'cursor'],
  '/b/:bounty': [],
  '/activity': ['search', 'cursor'],
  '/solvency': [],
  '/fees': [],
  '/status': [],
  '/terms': [],
  '/privacy': [],
  [PURCHASE]: ['t'],
}
export const PATHS = Object.keys(PAGES)

/** All addresses without a page are drawn, and stored, as one. */
const NO_PAGE = '/no-page'

interface PageAddress {
  /** Path with the parameters that the page reads, in one order. */
  readonly path: string
  /** Whether the address may be a credential. */
  readonly isSecret: boolean
}

export function addressOf({ routeOptions, params, url }: FastifyRequest): PageAddress {
  const route = routeOptions.url ?? ''
  const query = new URLSearchParams(url.split('?').slice(1).join('?'))
  const isSecret = route === PURCHASE || query.has('t')
  const known = PAGES[route]
  if (known === undefined) return { path: NO_PAGE, isSecret }
  const values = params as Readonly<Record<string, string>>
  const path = route.replace(/:(\w+)/g, (_text, name: string) => encodeURIComponent(values[name] ?? ''))
  // Of a repeated parameter, pages read the last.
  const given = known.flatMap((name) =>
    query
      .getAll(name)
      .slice(-1)
      .map((value): [string, string] => [name, value]),
  )
  const search = new URLSearchParams(given.filter(([, value]) => value !== '')).toString()
  return { path: search === '' ? path : `${path}?${search}`, isSecret }
}
