import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { day, usdc } from '../format.ts'
import { amountOf } from '../money.ts'
import { Avatar } from '../parts/avatar.tsx'
import { SaveIcon } from '../parts/icons.tsx'
import { saveFile } from './save-file.ts'
import {
  type ListedOrder,
  type SpendingRow,
  type Spent,
  spendingByMonth,
  spendingBySeller,
  spendingCsv,
  totalOf,
} from './spending.ts'

interface SpendingViewProps {
  /** The newest first. */
  readonly orders: readonly ListedOrder[]
  /** Whether there are older ones, which are not counted. */
  readonly isAll: boolean
}

/** What was spent on orders, by month and by seller. */
export function SpendingView({ orders, isAll }: SpendingViewProps) {
  const months = spendingByMonth(orders)
  if (months.length === 0)
    return (
      <div className="card pad empty">
        <h2>Nothing was paid yet</h2>
        <p>Each order that you pay is counted here, by month and by seller.</p>
        <Link className="btn primary" to="/">
          Find a service
        </Link>
      </div>
    )
  const oldest = orders.at(-1)
  return (
    <>
      <Total total={totalOf(orders)} />
      {!isAll && oldest !== undefined && (
        <p className="banner">
          Counted are your newest {orders.length.toLocaleString('en')} orders, since {day(oldest.created_at)}.
          Older ones are in the list of your orders.
        </p>
      )}
      <Table title="By month" of="Month" rows={months} nameOf={({ key }) => monthName(key)} />
      <Table title="By seller" of="Seller" rows={spendingBySeller(orders)} nameOf={sellerOf} />
      <div className="line-up wrap-ok">
        <button
          className="btn"
          type="button"
          onClick={() => saveFile('spending.csv', 'text/csv;charset=utf-8', spendingCsv(orders))}
        >
          <SaveIcon /> Download CSV
        </button>
        <span className="muted sm">One row for each paid order, for spreadsheets.</span>
      </div>
    </>
  )
}

const FIGURES = [
  ['spent', 'Spent'],
  ['escrow', 'In escrow'],
  ['refunded', 'Refunded'],
  ['paid', 'Paid in total'],
] as const satisfies readonly (readonly [keyof Spent, string])[]

const Total = ({ total }: { readonly total: Spent }) => (
  <dl className="card strip">
    {FIGURES.map(([field, label]) => (
      <div key={field}>
        <dt>{label}</dt>
        <dd>
          {usdc(amountOf(total[field]))} <small className="muted sm">USDC</small>
        </dd>
      </div>
    ))}
  </dl>
)

interface TableProps {
  readonly title: string
  readonly of: string
  readonly rows: readonly SpendingRow[]
  readonly nameOf: (row: SpendingRow) => ReactNode
}

const Table = ({ title, of, rows, nameOf }: TableProps) => (
  <section className="card">
    <header>
      <h2>{title}</h2>
      <span className="push">USDC</span>
    </header>
    <table className="table cards">
      <thead>
        <tr>
          <th scope="col">{of}</th>
          <th scope="col" className="num">
            Orders
          </th>
          {FIGURES.map(([field, label]) => (
            <th scope="col" className="num" key={field}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <td className="lead any-word">{nameOf(row)}</td>
            <td className="num" data-label="Orders">
              {row.orders.length}
            </td>
            {FIGURES.map(([field, label]) => (
              <td className="num" data-label={label} key={field}>
                <span className={field === 'spent' ? 'usd' : row[field] === 0n ? 'muted' : undefined}>
                  {usdc(amountOf(row[field]))}
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

const monthName = (month: string): ReactNode => <strong>{MONTH.format(new Date(`${month}-01`))}</strong>

function sellerOf({ orders: [order], key }: SpendingRow): ReactNode {
  if (order === undefined) return key
  const { slug, name } = order.agent
  return (
    <span className="line-up">
      <Avatar id={key} name={name} size={22} />
      <Link className="ink any-word" to="/a/$agent" params={{ agent: slug }}>
        <strong>{name}</strong>
      </Link>
    </span>
  )
}
