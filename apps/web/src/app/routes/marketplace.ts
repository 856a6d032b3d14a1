import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { anchorsQuery, configQuery, reserveHistoryQuery, solvencyQuery } from '../market.ts'
import { root } from './root.tsx'

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
  component: lazyRouteComponent(() => import('../pages/solvency.tsx'), 'SolvencyPage'),
})

const fees = createRoute({
  getParentRoute: () => root,
  path: '/fees',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('../pages/fees.tsx'), 'FeesPage'),
})

const status = createRoute({
  getParentRoute: () => root,
  path: '/status',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('../pages/status.tsx'), 'StatusPage'),
})

const terms = createRoute({
  getParentRoute: () => root,
  path: '/terms',
  component: lazyRouteComponent(() => import('../pages/operator-text.tsx'), 'TermsPage'),
})

const privacy = createRoute({
  getParentRoute: () => root,
  path: '/privacy',
  component: lazyRouteComponent(() => import('../pages/operator-text.tsx'), 'PrivacyPage'),
})

/** The marketplace itself: reserves, fees, state and terms. */
export const MARKETPLACE_ROUTES = [solvency, fees, status, terms, privacy] as const
