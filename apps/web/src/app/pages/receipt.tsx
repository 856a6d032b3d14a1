import { MarketError } from '@market/sdk/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext } from '@tanstack/react-router'
import { saveFile } from '../account/save-file.ts'
import type { PageContext } from '../market.ts'
import { Head } from '../parts/head.tsx'
import { ChevronIcon, SaveIcon } from '../parts/icons.tsx'
import { Loading, NotRead, Private } from '../parts/private.tsx'
import { type CheckedReceipt, checkReceipt, KEYS, type Receipt } from '../receipt/check-receipt.ts'
import { ReceiptCheck } from '../receipt/receipt-check.tsx'
import { ReceiptView } from '../receipt/receipt-view.tsx'

/** The receipt of an order for one of its parties. The server draws its frame only. */
export const ReceiptPage = () => (
  <main id="content" className="wrap paper stack">
    <Head title="Receipt" description="The receipt of an order of yours." />
    <Private signedOut="A receipt is shown to the buyer and the agent of the order. Is it yours?">
      <OwnReceipt />
    </Private>
  </main>
)

const receiptQuery = ({ market, site }: PageContext, orderId: string) =>
  queryOptions({
    queryKey: ['receipt', orderId],
    staleTime: 5_000,
    retry: false,
    queryFn: async () => {
      const { jws, receipt } = await market.getReceipt({ order_id: orderId })
      return { jws, receipt, check: await checkReceipt(jws, site) }
    },
  })

function OwnReceipt() {
  const { order } = useParams({ from: '/orders/$order/receipt' })
  const context = useRouteContext({ from: '/orders/$order/receipt' })
  const { data, error, refetch } = useQuery({
    ...receiptQuery(context, order),
    refetchInterval: ({ state }) => (reasonOf(state.error) === undefined ? false : NOT_YET_MS),
  })
  return (
    <>
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        <Link className="nowrap" to="/orders">
          Your orders
        </Link>{' '}
        <ChevronIcon />{' '}
        <Link className="mono clip" to="/orders/$order" params={{ order }}>
          {order}
        </Link>{' '}
        <ChevronIcon /> <span>Receipt</span>
      </nav>
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <NoReceipt error={error} order={order} onRetry={() => void refetch()} />
        )
      ) : (
        <CheckedReceiptView order={order} {...data} />
      )}
    </>
  )
}

/** Why an order has no receipt yet, and what happens next. */
const NOT_YET: Readonly<Record<string, readonly [title: string, text: string]>> = {
  order_not_paid: ['Nothing was paid yet', 'An order has a receipt once its payment is final.'],
  payment_not_final: [
    'The payment is not final yet',
    'Its network can still reverse it. The receipt is here when it cannot any more, usually within minutes.',
  ],
  payment_contested: [
    'The payment is contested',
    'Another request named the same transfer. The receipt is here once it is decided whose it is.',
  ],
}

const NOT_YET_MS = 15_000

const reasonOf = (error: unknown) => NOT_YET[error instanceof MarketError ? error.code : '']

interface NoReceiptProps {
  readonly error: Error
  readonly order: string
  readonly onRetry: () => void
}

export function NoReceipt({ error, order, onRetry }: NoReceiptProps) {
  const reason = reasonOf(error)
  if (reason === undefined) return <NotRead error={error} onRetry={onRetry} />
  return (
    <div className="empty">
      <h1>{reason[0]}</h1>
      <p>{reason[1]}</p>
      <Link className="btn primary" to="/orders/$order" params={{ order }}>
        See the order
      </Link>
    </div>
  )
}

interface CheckedReceiptViewProps {
  readonly order: string
  readonly jws: string
  /** What the API says that the text says: it counts where the browser could not check it. */
  readonly receipt: Receipt
  readonly check: CheckedReceipt
}

/** Shows what was signed, and nothing that was not. */
export function CheckedReceiptView({ jws, receipt, check, order }: CheckedReceiptViewProps) {
  if (check.kind === 'invalid') return <ReceiptCheck check={check} />
  const file = `receipt-${order}.jws`
  return (
    <>
      <div className="line-up wrap-ok no-print">
        <button
          className="btn primary"
          type="button"
          onClick={() => saveFile(file, 'application/jose', `${jws}\n`)}
        >
          <SaveIcon /> Download the receipt
        </button>
        <button className="btn" type="button" onClick={() => window.print()}>
          Print
        </button>
      </div>
      <ReceiptCheck check={check} />
      <ReceiptView receipt={check.kind === 'valid' ? check.receipt : receipt}>
        <section>
          <h2>Verify it</h2>
          <p className="sm">
            <code className="any-word">market receipt verify {file}</code>
          </p>
          <p className="muted sm any-word">
            The file is a JWS (Ed25519). Its keys are at {receipt.iss}
            {KEYS}; a saved copy of them works without a connection.
          </p>
        </section>
      </ReceiptView>
    </>
  )
}
