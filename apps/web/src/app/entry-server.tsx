import { Client } from '@market/sdk/client'
import { dehydrate, QueryClient } from '@tanstack/react-query'
import { createMemoryHistory, isNotFound } from '@tanstack/react-router'
import { renderToString } from 'react-dom/server'
import type { RenderPage } from '../page.ts'
import { Document, jsonOf } from './document.tsx'
import { NowProvider } from './parts/now.tsx'
import { createPageRouter } from './router.tsx'

const API_TIMEOUT_MS = 5_000

/** Draws a page with what the API says now, without any credential: the page is the same for everybody. */
export const renderPage: RenderPage = async ({ path, apiUrl, fetch, assets, site, solanaNode, operator }) => {
  const queryClient = new QueryClient()
  const settings = { site, solanaNode, operator }
  const described: object[] = []
  const market = new Client({ apiUrl, fetch, retries: 0, timeoutMs: API_TIMEOUT_MS })
  const router = createPageRouter(
    { market, queryClient, ...settings, describe: (facts) => described.push(facts) },
    createMemoryHistory({ initialEntries: [path] }),
  )
  await router.load()
  const now = Date.now()
  const state = { assets, now, settings, queries: dehydrate(queryClient) }
  const html = renderToString(
    <NowProvider drawnAt={now}>
      <Document router={router} queryClient={queryClient} state={state} />
    </NowProvider>,
  )
  const read = state.queries.queries.map(({ queryHash, state: { data } }) => [queryHash, data])
  const facts = described.map((one) => `<script type="application/ld+json">${jsonOf(one)}</script>`).join('')
  return {
    status: statusOf(router),
    isComplete: queryClient
      .getQueryCache()
      .getAll()
      .every(({ state: { error } }) => error === null || isNotFound(error)),
    content: jsonOf([path, assets, settings, read]),
    html: `<!doctype html>${html.replace('</head>', () => `${facts}</head>`)}`,
  }
}

/** The router knows whether the page exists and could be read; it has no public name for it. */
function statusOf({ _serverResult: result }: ReturnType<typeof createPageRouter>): number {
  if (result?.type !== 'render') return 404
  return result.status === 500 ? 503 : result.status
}
