import { hydrate, QueryClient } from '@tanstack/react-query'
import { hydrateRoot } from 'react-dom/client'
import { Document, type PageState, STATE_ID } from './document.tsx'
import { browserMarket } from './market.ts'
import { NowProvider } from './parts/now.tsx'
import { createPageRouter } from './router.tsx'
import './styles/market.css'

const state = JSON.parse(document.getElementById(STATE_ID)?.textContent ?? '{}') as PageState
const queryClient = new QueryClient()
// Before the router loads the page, so that nothing is read a second time.
hydrate(queryClient, state.queries)
const router = createPageRouter({ market: browserMarket(), queryClient, ...state.settings })
await router.load()
hydrateRoot(
  document,
  <NowProvider drawnAt={state.now}>
    <Document router={router} queryClient={queryClient} state={state} />
  </NowProvider>,
)
