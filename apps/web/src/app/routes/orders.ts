import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { agentQuery, configQuery, purchaseQuery } from '../market.ts'
import { textOf } from '../service-filter.ts'
import { root } from './root.tsx'
import { listedOf, type Search } from './search.ts'

const orders = createRoute({
  getParentRoute: () => root,
  path: '/orders',
  validateSearch: listedOf,
  component: lazyRouteComponent(() => import('../pages/orders.tsx'), 'OrdersPage'),
})

const order = createRoute({
  getParentRoute: () => root,
  path: '/orders/$order',
  component: lazyRouteComponent(() => import('../pages/order.tsx'), 'OrderPage'),
})

const receipt = createRoute({
  getParentRoute: () => root,
  path: '/orders/$order/receipt',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('../pages/receipt.tsx'), 'ReceiptPage'),
})

const workspaces = createRoute({
  getParentRoute: () => root,
  path: '/workspaces',
  validateSearch: listedOf,
  component: lazyRouteComponent(() => import('../pages/workspaces.tsx'), 'WorkspacesPage'),
})

const workspace = createRoute({
  getParentRoute: () => root,
  path: '/workspaces/$order',
  component: lazyRouteComponent(() => import('../pages/workspace.tsx'), 'WorkspacePage'),
})

const purchase = createRoute({
  getParentRoute: () => root,
  path: '/o/$order',
  validateSearch: (search: Search) => ({ t: textOf(search['t']) ?? '' }),
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    const { queryClient } = context
    // Without a token there is nothing to show.
    if (deps.t === '') throw notFound()
    const { order } = await queryClient.ensureQueryData(purchaseQuery(context, params.order, deps.t))
    await queryClient.ensureQueryData(agentQuery(context, order.agent_id))
  },
  component: lazyRouteComponent(() => import('../pages/purchase.tsx'), 'PurchasePage'),
})

/** Orders, workspaces and purchases. */
export const ORDER_ROUTES = [orders, order, receipt, workspaces, workspace, purchase] as const
