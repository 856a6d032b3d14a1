import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { bountiesQuery, bountyQuery, configQuery } from '../market.ts'
import { root } from './root.tsx'
import { optional, pageOf, type Search } from './search.ts'

const bounties = createRoute({
  getParentRoute: () => root,
  path: '/bounties',
  validateSearch: pageOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(bountiesQuery(context, deps)),
  component: lazyRouteComponent(() => import('../pages/bounties.tsx'), 'BountiesPage'),
})

const bounty = createRoute({
  getParentRoute: () => root,
  path: '/b/$bounty',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(bountyQuery(context, params.bounty)),
  component: lazyRouteComponent(() => import('../pages/bounty.tsx'), 'BountyPage'),
})

const postBounty = createRoute({
  getParentRoute: () => root,
  path: '/bounties/new',
  loader: ({ context }) => context.queryClient.ensureQueryData(configQuery(context)),
  component: lazyRouteComponent(() => import('../pages/post-bounty.tsx'), 'PostBountyPage'),
})

const myBounties = createRoute({
  getParentRoute: () => root,
  path: '/bounties/mine',
  validateSearch: (search: Search) => optional('cursor', search),
  component: lazyRouteComponent(() => import('../pages/my-bounties.tsx'), 'MyBountiesPage'),
})

/** Bounties of everybody and of the viewer. */
export const BOUNTY_ROUTES = [bounties, bounty, postBounty, myBounties] as const
