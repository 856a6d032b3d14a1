import { type DehydratedState, hydrate, QueryClient } from '@tanstack/react-query'
import { hydrateRoot } from 'react-dom/client'
import { Document, type PageState, STATE_ID } from './document.tsx'
import { browserMarket, FRESH_MS } from './market.ts'
import { NowProvider } from './parts/now.tsx'
import { createPageRouter } from './router.tsx'
import './styles/market.css'

const state = JSON.parse(document.getElementById(STATE_ID)?.textContent ?? '{}') as PageState
const queryClient = new QueryClient()

/** Long enough for the first drawing. What it shows must be what the server drew. */
const UNCHANGED_MS = 5_000

/** A stored page can be minutes old. Its data counts as fresh until the page is drawn, and is read again then. */
function freshFor(queries: DehydratedState, milliseconds: number): DehydratedState {
  const least = Date.now() - FRESH_MS + milliseconds
  const updated = (at: number) => (at > least ? at : least)
  return {
    ...queries,
    queries: queries.queries.map((query) => ({
      ...query,
      state: { ...query.state, dataUpdatedAt: updated(query.state.dataUpdatedAt) },
    })),
  }
}

// Before the router loads the page, so that nothing is read a second time.
hydrate(queryClient, freshFor(state.queries, UNCHANGED_MS))
setTimeout(() => queryClient.refetchQueries({ type: 'active', stale: true }), UNCHANGED_MS + 1_000)
const router = createPageRouter({ market: browserMarket(), queryClient, ...state.settings })
await router.load()
hydrateRoot(
  document,
  <NowProvider drawnAt={state.now}>
    <Document router={router} queryClient={queryClient} state={state} />
  </NowProvider>,
)
