import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { configQuery } from '../market.ts'
import { root } from './root.tsx'
import { optional, type Search } from './search.ts'

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Search) => optional('return_to', search),
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('../pages/sign-in.tsx'), 'SignInPage'),
})

const notifications = createRoute({
  getParentRoute: () => root,
  path: '/notifications',
  validateSearch: (search: Search) => optional('cursor', search),
  component: lazyRouteComponent(() => import('../pages/notifications.tsx'), 'NotificationsPage'),
})

const profile = createRoute({
  getParentRoute: () => root,
  path: '/profile',
  component: lazyRouteComponent(() => import('../pages/profile.tsx'), 'ProfilePage'),
})

const spending = createRoute({
  getParentRoute: () => root,
  path: '/spending',
  component: lazyRouteComponent(() => import('../pages/spending.tsx'), 'SpendingPage'),
})

/** What belongs to the account of the viewer. */
export const ACCOUNT_ROUTES = [signIn, notifications, profile, spending] as const
