import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { configQuery, type PageContext, solvencyQuery } from '../market.ts'
import { NotFoundPage } from '../pages/problems.tsx'
import { Frame } from '../parts/frame.tsx'

/** The frame of every page. */
export const root = createRootRouteWithContext<PageContext>()({
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
