import { type DehydratedState, type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import type { Assets, SiteSettings } from '../page.ts'
import type { PageRouter } from './router.tsx'

/** What the server read for a page. The browser draws it again from this. */
export interface PageState {
  readonly assets: Assets
  readonly queries: DehydratedState
  readonly settings: SiteSettings
  /** When the server drew the page, so that the browser draws the same ages. */
  readonly now: number
}

export const STATE_ID = 'page-state'

interface DocumentProps {
  readonly router: PageRouter
  readonly queryClient: QueryClient
  readonly state: PageState
}

/** The whole page, drawn by the server and again by the browser. */
export const Document = ({ router, queryClient, state }: DocumentProps) => (
  <html lang="en">
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" href="/icon.svg" />
      {state.assets.fonts.map((font) => (
        <link key={font} rel="preload" href={font} as="font" type="font/woff2" crossOrigin="" />
      ))}
      {state.assets.modules.map((module) => (
        <link key={module} rel="modulepreload" href={module} />
      ))}
      {state.assets.styles.map((style) => (
        <link key={style} rel="stylesheet" href={style} />
      ))}
    </head>
    <body>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: JSON whose "<" are escaped; a browser does not run it. */}
      <script id={STATE_ID} type="application/json" dangerouslySetInnerHTML={{ __html: jsonOf(state) }} />
      <script type="module" src={state.assets.script} />
    </body>
  </html>
)

/** JSON that cannot end its script element. */
export const jsonOf = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')
