import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  type RouterHistory,
} from '@tanstack/react-router'
import {
  ACTIVITY_LIMIT,
  activityQuery,
  agentQuery,
  agentsQuery,
  anchorsQuery,
  bountiesQuery,
  bountyQuery,
  configQuery,
  type PageContext,
  purchaseQuery,
  reserveHistoryQuery,
  reviewsQuery,
  serviceQuery,
  servicesQuery,
  solvencyQuery,
  statisticsQuery,
} from './market.ts'
import { ErrorPage, NotFoundPage } from './pages/problems.tsx'
import { Frame } from './parts/frame.tsx'
import { filterOf, textOf } from './service-filter.ts'

const root = createRootRouteWithContext<PageContext>()({
  loader: ({ context }) =>
    // Without these the page is shown all the same.
    Promise.allSettled([
      context.queryClient.ensureQueryData(solvencyQuery(context)),
      context.queryClient.ensureQueryData(configQuery(context)),
    ]),
  component: () => (
    <Frame>
      <Outlet />
    </Frame>
  ),
  notFoundComponent: NotFoundPage,
})

const pageOf = (search: Readonly<Record<string, unknown>>) => {
  const words = textOf(search['search'])
  const cursor = textOf(search['cursor'])
  return { ...(words !== undefined && { search: words }), ...(cursor !== undefined && { cursor }) }
}

const shop = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: filterOf,
  loaderDeps: ({ search }) => search,
  loader: async ({ context, deps }) => {
    const { queryClient } = context
    await Promise.all([
      queryClient.ensureQueryData(servicesQuery(context, deps)),
      queryClient.ensureQueryData(statisticsQuery(context)),
      queryClient.ensureQueryData(activityQuery(context, 4)),
      queryClient.ensureQueryData(configQuery(context)),
    ])
  },
  component: lazyRouteComponent(() => import('./pages/shop.tsx'), 'ShopPage'),
})

const service = createRoute({
  getParentRoute: () => root,
  path: '/s/$agent/$service',
  loader: async ({ context, params }) => {
    const { queryClient } = context
    const found = await queryClient.ensureQueryData(serviceQuery(context, params.agent, params.service))
    await Promise.all([
      queryClient.ensureQueryData(agentQuery(context, found.agent.slug)),
      queryClient.ensureQueryData(configQuery(context)),
      queryClient.ensureQueryData(reviewsQuery(context, found.agent_id, found.id)),
    ])
  },
  component: lazyRouteComponent(() => import('./pages/service.tsx'), 'ServicePage'),
})

const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: pageOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(agentsQuery(context, deps)),
  component: lazyRouteComponent(() => import('./pages/agents.tsx'), 'AgentsPage'),
})

const agent = createRoute({
  getParentRoute: () => root,
  path: '/a/$agent',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(agentQuery(context, params.agent)),
  component: lazyRouteComponent(() => import('./pages/agent.tsx'), 'AgentPage'),
})

const bounties = createRoute({
  getParentRoute: () => root,
  path: '/bounties',
  validateSearch: pageOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(bountiesQuery(context, deps)),
  component: lazyRouteComponent(() => import('./pages/bounties.tsx'), 'BountiesPage'),
})

const bounty = createRoute({
  getParentRoute: () => root,
  path: '/b/$bounty',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(bountyQuery(context, params.bounty)),
  component: lazyRouteComponent(() => import('./pages/bounty.tsx'), 'BountyPage'),
})

const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  validateSearch: pageOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    context.queryClient.ensureQueryData(activityQuery(context, ACTIVITY_LIMIT, deps.cursor)),
  component: lazyRouteComponent(() => import('./pages/activity.tsx'), 'ActivityPage'),
})

const solvency = createRoute({
  getParentRoute: () => root,
  path: '/solvency',
  loader: async ({ context }) => {
    await Promise.all([
      context.queryClient.ensureQueryData(solvencyQuery(context)),
      context.queryClient.ensureQueryData(anchorsQuery(context)),
      context.queryClient.ensureQueryData(reserveHistoryQuery(context)),
    ])
  },
  component: lazyRouteComponent(() => import('./pages/solvency.tsx'), 'SolvencyPage'),
})

const fees = createRoute({
  getParentRoute: () => root,
  path: '/fees',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('./pages/fees.tsx'), 'FeesPage'),
})

const status = createRoute({
  getParentRoute: () => root,
  path: '/status',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('./pages/status.tsx'), 'StatusPage'),
})

const terms = createRoute({
  getParentRoute: () => root,
  path: '/terms',
  component: lazyRouteComponent(() => import('./pages/operator-text.tsx'), 'TermsPage'),
})

const privacy = createRoute({
  getParentRoute: () => root,
  path: '/privacy',
  component: lazyRouteComponent(() => import('./pages/operator-text.tsx'), 'PrivacyPage'),
})

const purchase = createRoute({
  getParentRoute: () => root,
  path: '/o/$order',
  validateSearch: (search: Readonly<Record<string, unknown>>) => ({ t: textOf(search['t']) ?? '' }),
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    const { queryClient } = context
    // Without a token there is nothing to show.
    if (deps.t === '') throw notFound()
    const { order } = await queryClient.ensureQueryData(purchaseQuery(context, params.order, deps.t))
    await queryClient.ensureQueryData(agentQuery(context, order.agent_id))
  },
  component: lazyRouteComponent(() => import('./pages/purchase.tsx'), 'PurchasePage'),
})

/** Values stay text: "5" is not a number and "true" not a boolean. */
const parseSearch = (text: string) => Object.fromEntries(new URLSearchParams(text))
function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

export function createPageRouter(context: PageContext, history?: RouterHistory) {
  const router = createRouter({
    routeTree: root.addChildren([
      shop,
      service,
      agents,
      agent,
      bounties,
      bounty,
      activity,
      solvency,
      fees,
      status,
      terms,
      privacy,
      purchase,
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
