import type { Operations } from '@market/sdk'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { shortDay, usdc } from '../format.ts'
import { anchorsQuery, reserveHistoryQuery, solvencyQuery } from '../market.ts'
import { amountOf, ratioOf, sumOf } from '../money.ts'
import { CheckMoney } from '../parts/check-money.tsx'
import { Head } from '../parts/head.tsx'
import { AlertIcon, TickIcon } from '../parts/icons.tsx'
import { NetworkReserves } from '../parts/network-reserves.tsx'
import { OnChain } from '../parts/networks.tsx'
import { Ago } from '../parts/now.tsx'
import { ReserveChart } from '../parts/reserve-chart.tsx'

export function SolvencyPage() {
  const context = useRouteContext({ from: '/solvency' })
  const { data: networks } = useSuspenseQuery(solvencyQuery(context))
  const { data: anchors } = useSuspenseQuery(anchorsQuery(context))
  const { data: points } = useSuspenseQuery(reserveHistoryQuery(context))
  const held = sumOf(networks.flatMap((one) => [one.assets_usd, one.venues_usd]))
  const owed = sumOf(networks.map((one) => one.liabilities_usd))
  const isCompared = networks.length > 0
  const isSolvent = networks.every(({ solvent }) => solvent)
  const oldest = networks.map(({ checked_at }) => checked_at).toSorted()[0]
  return (
    <main id="content" className="wrap stack-8">
      <Head
        title="Solvency"
        description="What Agent Market holds and what it owes, on each network, and how to check it."
        path="/solvency"
      />
      <section className="page-head solv-head">
        <div>
          <div className="line-up">
            {isCompared && isSolvent && <TickIcon size={22} />}
            {!isSolvent && (
              <span className="bad">
                <AlertIcon size={22} />
              </span>
            )}
            <h1 className="title">
              {!isCompared
                ? 'No network was compared yet'
                : isSolvent
                  ? 'Every network holds what it owes'
                  : 'A network holds less than it owes'}
            </h1>
          </div>
          <p className="measure read">
            {isCompared && (
              <>
                We hold {usdc(held)} USDC for {usdc(owed)} owed to buyers and agents. Read the addresses on
                the chain, and check in this page that your own money is counted.
              </>
            )}
            {!isCompared && 'What is held and owed is compared with the chains every 30 seconds.'}
          </p>
        </div>
        {oldest !== undefined && (
          <div className="clock-box">
            <span className="muted sm">Compared with the chains</span>
            <span className="figure">
              <Ago at={oldest} isShort /> <small>ago</small>
            </span>
            <span className="muted sm">every 30 seconds</span>
          </div>
        )}
      </section>
      {isCompared && (
        <section className="card">
          <header>
            <h2>Held and owed</h2>
            <span className="push legend">
              <span>
                <i className="k-good" />
                Held on the chains
              </span>
              <span>
                <i className="k-accent" />
                Owed to users
              </span>
            </span>
          </header>
          <div className="pad">
            <span className="figure">
              {ratioOf(held, owed) ?? 'Nothing is owed'}{' '}
              <small>{ratioOf(held, owed) === undefined ? 'now' : 'held of what is owed'}</small>
            </span>
            {points.length < 2 ? (
              <p className="muted mt4">
                One point is drawn each day. The drawing begins with the second day.
              </p>
            ) : (
              <div className="mt4">
                <ReserveChart points={points} />
              </div>
            )}
          </div>
          <footer>
            The platform’s own fees ({usdc(sumOf(networks.map((one) => one.platform_usd)))}) are in the same
            treasuries. They are owed to nobody. <a href="/api/solvency/history">All days as JSON</a>
          </footer>
        </section>
      )}
      {isCompared && (
        <div className="grid-nets">
          {networks.map((reserves) => (
            <NetworkReserves key={reserves.network} reserves={reserves} />
          ))}
        </div>
      )}
      <div className="with-side">
        <CheckMoney networks={networks} anchors={anchors} solanaNode={context.solanaNode} />
        <aside className="stack">
          <Anchors anchors={anchors} />
          <section className="card">
            <header>
              <h2>What this does not prove</h2>
            </header>
            <div className="pad">
              <ul className="bullets muted sm">
                <li>
                  That an address is ours: it is the one that you paid. The command line also checks that the
                  EVM treasuries signed the anchor; this page does not.
                </li>
                <li>That a debt is counted which nobody checks. Check yours.</li>
                <li>What came in after the last anchor.</li>
                <li>That the money was not borrowed for the moment.</li>
              </ul>
              <p className="sm mt3">
                <a href="/docs/contract/solvency">Verify everything with one command</a>
              </p>
            </div>
          </section>
        </aside>
      </div>
    </main>
  )
}

/** The others are read by programs, and by the check beside the list. */
const SHOWN_ANCHORS = 7

const Anchors = ({ anchors }: { readonly anchors: Operations['listAnchors']['data'] }) => (
  <section className="card">
    <header>
      <h2>Anchors</h2>
      <span className="push">one a day, on Solana</span>
    </header>
    {anchors.length === 0 ? (
      <p className="pad muted">None yet.</p>
    ) : (
      <ul className="anchors">
        {anchors.slice(0, SHOWN_ANCHORS).map(({ day, anchored, networks }) => (
          <li key={day}>
            <span>{shortDay(day)}</span>
            {anchored === null ? (
              <span className="muted">not yet on the chain</span>
            ) : (
              <OnChain network={anchored.network} kind="transaction" text={anchored.signature} />
            )}
            <span className="usd">
              {usdc(amountOf(networks.reduce((sum, one) => sum + BigInt(one.total_micros), 0n)))}
            </span>
          </li>
        ))}
      </ul>
    )}
    {anchors.length > SHOWN_ANCHORS && (
      <footer>
        <a href="/api/solvency/anchors">All days as JSON</a>
      </footer>
    )}
  </section>
)
