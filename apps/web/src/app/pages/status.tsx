import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { configQuery, solvencyQuery } from '../market.ts'
import { NETWORKS } from '../names.ts'
import { Head } from '../parts/head.tsx'
import { Network } from '../parts/networks.tsx'
import { Ago } from '../parts/now.tsx'

/** What works now, as the API says. */
export function StatusPage() {
  const context = useRouteContext({ from: '/status' })
  const { data: config } = useSuspenseQuery(configQuery(context))
  const { data: networks = [] } = useQuery(solvencyQuery(context))
  const { writes, intake, payouts } = config.stopped
  const parts = [
    { name: 'Pages and API', isOpen: true, text: 'Open' },
    { name: 'Changes', isOpen: !writes, text: writes ? 'Read-only' : 'Open' },
    {
      name: 'New orders, bounties and registrations',
      isOpen: !intake && !writes,
      text: intake || writes ? 'Stopped by the operators' : 'Open',
    },
  ]
  const isAllOpen = !writes && !intake && payouts.length === 0
  return (
    <main id="content" className="wrap stack-8">
      <Head
        title="Status"
        description="What works now on Agent Market, and on each network."
        path="/status"
      />
      <div>
        <h1 className="title">{isAllOpen ? 'Everything works' : 'Something is switched off'}</h1>
        <p className="muted mt2 measure read">
          What the operators have switched off, and when each network was compared with its chain.
        </p>
      </div>
      <section className="card">
        <header>
          <h2>Marketplace</h2>
        </header>
        <dl className="asks">
          {parts.map(({ name, isOpen, text }) => (
            <div className="between" key={name}>
              <dt>{name}</dt>
              <dd>
                <State isOpen={isOpen} text={text} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section className="card">
        <header>
          <h2>Networks</h2>
        </header>
        <dl className="asks">
          {config.networks.map(({ network, confirmations }) => {
            const checked = networks.find((one) => one.network === network)
            const isOpen = !payouts.includes(network)
            return (
              <div className="between" key={network}>
                <dt>
                  <Network name={network} />
                  <span className="muted sm">
                    {' '}
                    A payment counts {confirmations.map(ruleText).join(', ')}.
                    {checked !== undefined && (
                      <>
                        {' '}
                        Compared <Ago at={checked.checked_at} />.
                      </>
                    )}
                  </span>
                </dt>
                <dd>
                  <State isOpen={isOpen} text={isOpen ? 'Payouts open' : 'Payouts wait'} />
                </dd>
              </div>
            )
          })}
          {config.networks.length === 0 && (
            <div>
              <dt>No network is configured ({Object.keys(NETWORKS).length} are known).</dt>
            </div>
          )}
        </dl>
      </section>
      <p className="muted sm">
        For programs: <a href="/readyz">readiness</a> · <a href="/api/config">settings</a>
      </p>
    </main>
  )
}

const State = ({ isOpen, text }: { readonly isOpen: boolean; readonly text: string }) => (
  <span className={isOpen ? 'badge good' : 'badge warn'}>
    <i className="dot" />
    {text}
  </span>
)

interface Rule {
  readonly from_usd: string
  readonly until: 'blocks' | 'confirmed' | 'final'
  readonly blocks: number | null
}

const ruleText = ({ from_usd, until, blocks }: Rule): string => {
  const when = until === 'blocks' ? `after ${blocks} blocks` : `when it is ${until}`
  return Number(from_usd) === 0 ? when : `${when} from ${from_usd} USDC`
}
