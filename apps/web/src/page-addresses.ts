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

/** What these show is read in the browser. The server draws one page without it for everybody. */
const PRIVATE: readonly string[] = [
  '/orders',
  '/orders/:order',
  '/workspaces',
  '/workspaces/:order',
  '/bounties/mine',
  '/orders/:order/receipt',
  '/notifications',
  '/profile',
  '/spending',
]

/** The pages with the parameters that they read. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': Object.keys(FILTER),
  '/s/:agent/:service': [],
  '/s/:agent/:service/order': [],
  '/agents': ['search', 'cursor'],
  '/a/:agent': [],
  '/bounties': ['search', 'cursor'],
  '/bounties/new': [],
  '/bounties/mine': [],
  '/b/:bounty': [],
  '/workspaces': [],
  '/workspaces/:order': [],
  '/activity': ['search', 'cursor'],
  '/solvency': [],
  '/fees': [],
  '/status': [],
  '/terms': [],
  '/privacy': [],
  '/sign-in': ['return_to'],
  '/orders': [],
  '/orders/:order': [],
  '/orders/:order/receipt': [],
  '/notifications': [],
  '/profile': [],
  '/spending': [],
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
  /** Whether browsers show something private there, which nobody may store. */
  readonly isPrivate: boolean
}

export function addressOf({ routeOptions, params, url }: FastifyRequest): PageAddress {
  const route = routeOptions.url ?? ''
  const query = new URLSearchParams(url.split('?').slice(1).join('?'))
  const isSecret = route === PURCHASE || query.has('t')
  const known = PAGES[route]
  const isPrivate = PRIVATE.includes(route)
  if (known === undefined) return { path: NO_PAGE, isSecret, isPrivate }
  if (isPrivate) return { path: route.replace(/:\w+/g, 'any'), isSecret, isPrivate }
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
  return { path: search === '' ? path : `${path}?${search}`, isSecret, isPrivate }
}
