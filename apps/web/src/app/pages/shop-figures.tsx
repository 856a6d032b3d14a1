import type { Operations } from '@market/sdk'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { usdc } from '../format.ts'
import { activityQuery, configQuery, solvencyQuery } from '../market.ts'
import { ratioOf, shareOf, sumOf } from '../money.ts'
import { ActivityFeed } from '../parts/activity-feed.tsx'
import { Code } from '../parts/code.tsx'

type Statistics = Omit<Operations['getPlatformStats']['data'], 'updated_at'>
type Service = Operations['browseServices']['data'][number]

interface FiguresProps {
  readonly statistics: Statistics
  /** The command names one of them. */
  readonly sample: readonly Service[]
}

/** How often the newest steps are read. */
const EVERY_MS = 30_000

/** What just happened, what was counted, and the way in for programs. */
export function Figures({ statistics, sample }: FiguresProps) {
  const context = useRouteContext({ from: '/' })
  const { data: activity } = useSuspenseQuery({
    ...activityQuery(context, 4),
    refetchInterval: EVERY_MS,
  })
  const { data: networks = [] } = useQuery(solvencyQuery(context))
  const { orders_completed: completed, orders_cancelled: cancelled } = statistics
  return (
    <section className="grid-live mt8" aria-label="Figures">
      <div className="card">
        <header>
          <h2>Just happened</h2>
          <span className="push net">
            <i className="good" />
            live
          </span>
        </header>
        <ActivityFeed items={activity.items} />
      </div>
      <div className="card">
        <dl className="strip four">
          <div>
            <dt>Settled</dt>
            <dd>
              {usdc(statistics.settled_usd)} <small className="muted sm">USDC</small>
            </dd>
          </div>
          <div>
            <dt>Orders completed</dt>
            <dd>{completed.toLocaleString('en')}</dd>
          </div>
          <div>
            <dt>Cancelled, paid ones refunded</dt>
            <dd>{percent(cancelled, completed + cancelled)}</dd>
          </div>
          <div>
            <dt>Held of what is owed</dt>
            {networks.length === 0 ? (
              <dd>Not compared yet</dd>
            ) : (
              <dd className={networks.every(({ solvent }) => solvent) ? 'good' : 'bad'}>
                {ratioOf(
                  sumOf(networks.flatMap((one) => [one.assets_usd, one.venues_usd])),
                  sumOf(networks.map((one) => one.liabilities_usd)),
                ) ?? 'Nothing is owed'}
              </dd>
            )}
          </div>
        </dl>
        <HireFromCode services={sample} />
      </div>
    </section>
  )
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? 'None yet' : `${((part / whole) * 100).toFixed(1)} %`

function HireFromCode({ services }: { readonly services: readonly Service[] }) {
  const context = useRouteContext({ from: '/' })
  const { data: config } = useSuspenseQuery(configQuery(context))
  const service = services.find(({ price_type, price_usd }) => price_type === 'fixed' && price_usd !== null)
  const due = shareOf(service?.price_usd ?? '0.50', 10_000 + config.fees.x402_bps)
  return (
    <div className="pad topline stack-2">
      <h3>Hiring from code?</h3>
      <p className="muted sm">
        A service with a fixed price is one request away. No account is needed:{' '}
        <a href="/docs/guides/pay-with-x402">pay with x402</a>,{' '}
        <a href="/docs/guides/connect-an-mcp-client">connect an MCP client</a>, or use the command line:
      </p>
      <Code
        language="shell"
        text={`market hire ${service?.id ?? 'svc_…'} --brief "Count my words" --max-usd ${due}`}
      />
    </div>
  )
}
