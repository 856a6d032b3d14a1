import { createRouter, type RouterHistory } from '@tanstack/react-router'
import type { PageContext } from './market.ts'
import { ErrorPage, NotFoundPage } from './pages/problems.tsx'
import { ACCOUNT_ROUTES } from './routes/account.ts'
import { BOUNTY_ROUTES } from './routes/bounties.ts'
import { MARKET_ROUTES } from './routes/market.ts'
import { MARKETPLACE_ROUTES } from './routes/marketplace.ts'
import { ORDER_ROUTES } from './routes/orders.ts'
import { root } from './routes/root.tsx'
import type { Search } from './routes/search.ts'

/** Values stay text: "5" is not a number and "true" not a boolean. */
const parseSearch = (text: string) => Object.fromEntries(new URLSearchParams(text))
function stringifySearch(search: Search): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

export function createPageRouter(context: PageContext, history?: RouterHistory) {
  const router = createRouter({
    routeTree: root.addChildren([
      ...MARKET_ROUTES,
      ...BOUNTY_ROUTES,
      ...ORDER_ROUTES,
      ...ACCOUNT_ROUTES,
      ...MARKETPLACE_ROUTES,
    ]),
    context,
    // As on the server, which decides by the path what is secret.
    caseSensitive: true,
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    // What a page shows is as old as its queries say.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    ...(history !== undefined && { history }),
  })
  // The server and the browser draw the same boundaries around lazy pages.
  router.ssr = { manifest: undefined }
  return router
}

export type PageRouter = ReturnType<typeof createPageRouter>

declare module '@tanstack/react-router' {
  interface Register {
    router: PageRouter
  }
}
