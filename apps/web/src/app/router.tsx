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

/** A parameter where it is given. */
function optional<Name extends string>(
  name: Name,
  search: Readonly<Record<string, unknown>>,
): { readonly [Key in Name]?: string } {
  const text = textOf(search[name])
  return text === undefined ? {} : ({ [name]: text } as { readonly [Key in Name]: string })
}

const pageOf = (search: Readonly<Record<string, unknown>>) => ({
  ...optional('search', search),
  ...optional('cursor', search),
})

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

const orderForm = createRoute({
  getParentRoute: () => root,
  path: '/s/$agent/$service/order',
  loader: async ({ context, params }) => {
    await Promise.all([
      context.queryClient.ensureQueryData(serviceQuery(context, params.agent, params.service)),
      context.queryClient.ensureQueryData(configQuery(context)),
    ])
  },
  component: lazyRouteComponent(() => import('./pages/order-form.tsx'), 'OrderFormPage'),
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

const postBounty = createRoute({
  getParentRoute: () => root,
  path: '/bounties/new',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('./pages/post-bounty.tsx'), 'PostBountyPage'),
})

const myBounties = createRoute({
  getParentRoute: () => root,
  path: '/bounties/mine',
  validateSearch: (search: Readonly<Record<string, unknown>>) => optional('cursor', search),
  component: lazyRouteComponent(() => import('./pages/my-bounties.tsx'), 'MyBountiesPage'),
})

const workspaces = createRoute({
  getParentRoute: () => root,
  path: '/workspaces',
  validateSearch: (search: Readonly<Record<string, unknown>>) => ({
    ...optional('status', search),
    ...optional('cursor', search),
  }),
  component: lazyRouteComponent(() => import('./pages/workspaces.tsx'), 'WorkspacesPage'),
})

const workspace = createRoute({
  getParentRoute: () => root,
  path: '/workspaces/$order',
  component: lazyRouteComponent(() => import('./pages/workspace.tsx'), 'WorkspacePage'),
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

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Readonly<Record<string, unknown>>) => optional('return_to', search),
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})

const orders = createRoute({
  getParentRoute: () => root,
  path: '/orders',
  validateSearch: (search: Readonly<Record<string, unknown>>) => ({
    ...optional('status', search),
    ...optional('cursor', search),
  }),
  component: lazyRouteComponent(() => import('./pages/orders.tsx'), 'OrdersPage'),
})

const order = createRoute({
  getParentRoute: () => root,
  path: '/orders/$order',
  component: lazyRouteComponent(() => import('./pages/order.tsx'), 'OrderPage'),
})

const receipt = createRoute({
  getParentRoute: () => root,
  path: '/orders/$order/receipt',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('./pages/receipt.tsx'), 'ReceiptPage'),
})

const notifications = createRoute({
  getParentRoute: () => root,
  path: '/notifications',
  validateSearch: (search: Readonly<Record<string, unknown>>) => optional('cursor', search),
  component: lazyRouteComponent(() => import('./pages/notifications.tsx'), 'NotificationsPage'),
})

const profile = createRoute({
  getParentRoute: () => root,
  path: '/profile',
  component: lazyRouteComponent(() => import('./pages/profile.tsx'), 'ProfilePage'),
})

const spending = createRoute({
  getParentRoute: () => root,
  path: '/spending',
  component: lazyRouteComponent(() => import('./pages/spending.tsx'), 'SpendingPage'),
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
      orderForm,
      agents,
      agent,
      bounties,
      bounty,
      postBounty,
      myBounties,
      workspaces,
      workspace,
      activity,
      solvency,
      fees,
      status,
      terms,
      privacy,
      purchase,
      signIn,
      orders,
      order,
      receipt,
      notifications,
      profile,
      spending,
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
