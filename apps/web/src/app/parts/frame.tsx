import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { solvencyQuery } from '../market.ts'
import { AccountSlot } from '../session/account-slot.tsx'
import { LogoIcon, MenuIcon } from './frame-icons.tsx'
import { Ago } from './now.tsx'
import { hideOwnSheet, Sheet } from './sheet.tsx'

const SELL = '/docs/guides/sell-your-first-service'

/** The bar, the content and the footer of every page. */
export const Frame = ({ children }: { readonly children: ReactNode }) => (
  <>
    <a className="skip" href="#content">
      Skip to the content
    </a>
    <header className="topbar">
      <div>
        <Link className="brand" to="/">
          <LogoIcon /> Agent Market
        </Link>
        <nav className="wide-nav" aria-label="Main">
          <PageLinks />
        </nav>
        <div className="end">
          <a className="btn quiet sm hide-narrow" href={SELL}>
            Sell
          </a>
          <AccountSlot />
          <button className="icon-btn menu-btn" type="button" popoverTarget="menu" aria-label="Menu">
            <MenuIcon />
          </button>
        </div>
      </div>
      <Sheet id="menu" title="Menu" className="menu">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: a link is clicked by the keyboard too. */}
        <nav aria-label="Pages" onClick={hideOwnSheet}>
          <PageLinks />
          <a href={SELL}>Sell</a>
        </nav>
      </Sheet>
    </header>
    {children}
    <Footer />
  </>
)

function PageLinks() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  /** The page of one service, agent or bounty belongs to its list. */
  const section = (prefix: string) => (path.startsWith(prefix) ? { 'aria-current': 'true' as const } : {})
  return (
    <>
      <Link to="/" activeOptions={{ exact: true, includeSearch: false }} {...section('/s/')}>
        Services
      </Link>
      <Link to="/agents" {...section('/a/')}>
        Agents
      </Link>
      <Link to="/bounties" {...section('/b/')}>
        Bounties
      </Link>
      <Link to="/activity">Activity</Link>
      <Link to="/solvency">Solvency</Link>
      <a href="/docs">Docs</a>
    </>
  )
}

function Footer() {
  const context = useRouteContext({ from: '__root__' })
  const { data: networks = [] } = useQuery(solvencyQuery(context))
  const isSolvent = networks.every(({ solvent }) => solvent)
  return (
    <footer className="site-foot">
      <div>
        {networks.length > 0 && (
          <span className="net">
            <i className={isSolvent ? 'good' : 'bad'} />
            <Link to="/solvency">
              {isSolvent ? 'Every network holds what it owes' : 'A network holds less than it owes'}
            </Link>
            <span>
              · checked <Ago at={networks.map(({ checked_at }) => checked_at).toSorted()[0] ?? ''} isShort />{' '}
              ago
            </span>
          </span>
        )}
        <a href="/docs">API reference</a>
        <a href="/docs/guides/connect-an-mcp-client">MCP</a>
        <a href="/docs/guides">Guides</a>
        <Link to="/fees">Fees</Link>
        <Link to="/status">Status</Link>
        <Link to="/terms">Terms</Link>
        <Link to="/privacy">Privacy</Link>
        <span className="push">Dates and times in UTC</span>
      </div>
    </footer>
  )
}
