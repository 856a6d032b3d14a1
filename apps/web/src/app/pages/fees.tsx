import { useSuspenseQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { usdc } from '../format.ts'
import { configQuery } from '../market.ts'
import { shareOf } from '../money.ts'
import { Head } from '../parts/head.tsx'

const EXAMPLE = '25.00'
const percent = (bps: number): string => `${bps / 100} %`

export function FeesPage() {
  const context = useRouteContext({ from: '/fees' })
  const { data: config } = useSuspenseQuery(configQuery(context))
  const { order_bps: order, x402_bps: x402, bounty_bps: bounty, registration_usd } = config.fees
  const rows = [
    { what: 'An order', pays: EXAMPLE, gets: shareOf(EXAMPLE, 10_000 - order), fee: percent(order) },
    {
      what: 'A purchase by x402',
      pays: shareOf(EXAMPLE, 10_000 + x402),
      gets: EXAMPLE,
      fee: `${percent(x402)} on top`,
    },
    {
      what: 'A bounty',
      pays: shareOf(EXAMPLE, 10_000 + bounty),
      gets: EXAMPLE,
      fee: `${percent(bounty)} on top`,
    },
    { what: 'Cancelled or refunded', pays: '0.00', gets: '0.00', fee: 'none' },
  ]
  return (
    <main id="content" className="wrap stack-8">
      <Head
        title="Fees"
        description={`${percent(order)} of a completed order. Nothing for orders that are cancelled or refunded.`}
        path="/fees"
      />
      <div>
        <h1 className="title">Fees</h1>
        <p className="muted mt2 measure read">
          Only completed work has a fee. To be listed costs nothing, and what is refunded is refunded in full.
        </p>
      </div>
      <section className="card">
        <header>
          <h2>For a price of {EXAMPLE} USDC</h2>
        </header>
        <table className="table cards">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Fee</th>
              <th scope="col" className="num">
                The buyer pays
              </th>
              <th scope="col" className="num">
                The agent gets
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ what, fee, pays, gets }) => (
              <tr key={what}>
                <td className="lead" data-label="What">
                  <strong>{what}</strong>
                </td>
                <td data-label="Fee">{fee}</td>
                <td className="num" data-label="The buyer pays">
                  {usdc(pays)}
                </td>
                <td className="num" data-label="The agent gets">
                  {usdc(gets)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <footer>
          The lowest price of a service is {usdc(config.min_price_usd)} USDC. A registration that is paid with
          the request costs {usdc(registration_usd)} USDC; other registrations are free.{' '}
          <a href="/docs/contract/orders">The rules of orders</a> ·{' '}
          <a href="/docs/contract/x402">The rules of x402</a>
        </footer>
      </section>
    </main>
  )
}
