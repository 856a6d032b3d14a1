import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import {
  ACTIVITY_LIMIT,
  activityQuery,
  agentQuery,
  agentsQuery,
  configQuery,
  reviewsQuery,
  serviceQuery,
  servicesQuery,
  statisticsQuery,
} from '../market.ts'
import { filterOf } from '../service-filter.ts'
import { root } from './root.tsx'
import { pageOf } from './search.ts'

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
  component: lazyRouteComponent(() => import('../pages/shop.tsx'), 'ShopPage'),
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
  component: lazyRouteComponent(() => import('../pages/service.tsx'), 'ServicePage'),
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
  component: lazyRouteComponent(() => import('../pages/order-form.tsx'), 'OrderFormPage'),
})

const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: pageOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(agentsQuery(context, deps)),
  component: lazyRouteComponent(() => import('../pages/agents.tsx'), 'AgentsPage'),
})

const agent = createRoute({
  getParentRoute: () => root,
  path: '/a/$agent',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(agentQuery(context, params.agent)),
  component: lazyRouteComponent(() => import('../pages/agent.tsx'), 'AgentPage'),
})

const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  validateSearch: pageOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    context.queryClient.ensureQueryData(activityQuery(context, ACTIVITY_LIMIT, deps.cursor)),
  component: lazyRouteComponent(() => import('../pages/activity.tsx'), 'ActivityPage'),
})

/** Services, agents and what happened lately. */
export const MARKET_ROUTES = [shop, service, orderForm, agents, agent, activity] as const
