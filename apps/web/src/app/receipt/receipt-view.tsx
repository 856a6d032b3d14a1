import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { time, usdc } from '../format.ts'
import { NETWORKS, ORDER_STATUSES } from '../names.ts'
import { Network, OnChain } from '../parts/networks.tsx'
import type { Receipt } from './check-receipt.ts'

interface ReceiptViewProps {
  readonly receipt: Receipt
  /** How the signature can be verified: it is printed too. */
  readonly children?: ReactNode
}

/** What a receipt says. It is printed on one page. */
export function ReceiptView({ receipt, children }: ReceiptViewProps) {
  const { order, service, buyer, agent, amounts } = receipt
  const { label } = ORDER_STATUSES[order.status]
  return (
    <article className="card receipt">
      <header>
        <div className="grow">
          <h1 className="title">Receipt</h1>
          <p className="muted sm">
            for order{' '}
            <Link className="mono any-word" to="/orders/$order" params={{ order: receipt.sub }}>
              {receipt.sub}
            </Link>
          </p>
        </div>
        <p className="right sm">
          <strong>Agent Market</strong>
          <br />
          <span className="muted any-word">{receipt.iss}</span>
        </p>
      </header>
      <div className="pad stack">
        <div className="parties">
          <section>
            <h2>Buyer</h2>
            {buyer.id !== null && <p className="mono sm any-word">{buyer.id}</p>}
            <p className="sm any-word">
              {buyer.wallet === null ? 'wallet not known' : <span className="mono">{buyer.wallet}</span>}
              {!buyer.payer_proven && <span className="muted"> (not proven by a signature)</span>}
            </p>
          </section>
          <section>
            <h2>Seller</h2>
            <p className="any-word">
              <strong>{agent.name}</strong>
            </p>
            <p className="mono sm any-word">{agent.id}</p>
          </section>
          <section>
            <h2>Service</h2>
            <p className="any-word">
              <strong>{service.title}</strong>
            </p>
            <p className="mono sm any-word">{service.id ?? service.bounty_id}</p>
          </section>
          <section>
            <h2>Order</h2>
            <p>
              {label}
              {order.outcome === 'refunded' && ', refunded'}
              {order.outcome === 'split' && ', divided by a decision'}
            </p>
            <p className="muted sm">
              {receipt.final ? 'Every payment is final.' : 'Not ended yet: a later receipt says more.'}
            </p>
          </section>
        </div>
        <div className="parties">
          <Amounts amounts={amounts} />
          <Times receipt={receipt} />
        </div>
        <Transfers transfers={receipt.transfers} />
        <Deliverables receipt={receipt} />
        {children}
      </div>
    </article>
  )
}

const Amounts = ({ amounts }: { readonly amounts: Receipt['amounts'] }) => {
  const { paid_usd, price_usd, surplus_usd, agent_usd, fee_usd, refund_usd } = amounts
  const rows = [
    ['Paid', paid_usd],
    ['Price', price_usd],
    ['Paid too much, returned', surplus_usd === '0.00' ? null : surplus_usd],
    ['To the seller', agent_usd],
    ['Fee of the market', fee_usd],
    ['Refunded', refund_usd === '0.00' ? null : refund_usd],
  ] as const
  return (
    <section>
      <h2>Amounts in USDC</h2>
      <dl className="kv">
        {rows.map(([name, amount]) =>
          amount === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="usd">{usdc(amount)}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  )
}

function Times({ receipt: { order, iat } }: { readonly receipt: Receipt }) {
  const rows = [
    ['Ordered', order.created_at],
    ['Paid', order.paid_at],
    ['Delivered', order.delivered_at],
    ['Ended', order.closed_at],
    ['State of this receipt', new Date(iat * 1_000).toISOString()],
  ] as const
  return (
    <section>
      <h2>Times</h2>
      <dl className="kv">
        {rows.map(([name, at]) =>
          at === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{time(at)}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  )
}

const KINDS: Readonly<Record<Receipt['transfers'][number]['kind'], string>> = {
  payment: 'Payment',
  payout: 'To the seller',
  refund: 'Refund',
  surplus: 'Surplus returned',
}

const Transfers = ({ transfers }: { readonly transfers: Receipt['transfers'] }) => (
  <section>
    <h2>Transfers that are final</h2>
    <ul className="proofs">
      {transfers.map(({ kind, network, amount_usd, wallet, tx_hash, at }) => (
        <li key={`${kind} ${at} ${tx_hash}`}>
          <p className="between">
            <span>
              <strong>{KINDS[kind]}</strong> <span className="usd">{usdc(amount_usd)} USDC</span>{' '}
              <Network name={network} />
            </span>
            <span className="muted sm">{time(at)}</span>
          </p>
          <dl className="kv left">
            {wallet !== null && (
              <div>
                <dt>{kind === 'payment' ? 'From' : 'To'}</dt>
                <dd>
                  <OnChain network={network} kind="address" text={wallet} isWhole />
                </dd>
              </div>
            )}
            <div>
              <dt>Transaction</dt>
              <dd>
                {tx_hash === null ? (
                  `on ${NETWORKS[network].label}; the seller’s receipt names it`
                ) : (
                  <OnChain network={network} kind="transaction" text={tx_hash} isWhole />
                )}
              </dd>
            </div>
          </dl>
        </li>
      ))}
    </ul>
  </section>
)

function Deliverables({
  receipt: { deliverables, deliverables_total: total },
}: {
  readonly receipt: Receipt
}) {
  if (total === 0) return null
  const left = total - deliverables.length
  return (
    <section>
      <h2>Delivered, with SHA-256</h2>
      <ul className="proofs">
        {deliverables.map((one, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a receipt is never sorted anew, and two may be equal.
          <li key={n}>
            <p className="any-word">
              <strong>{one.title ?? NAMES[one.type]}</strong>{' '}
              <span className="muted sm">{one.media_type ?? NAMES[one.type].toLowerCase()}</span>
            </p>
            {HASHES.map(([field, of]) => {
              const hash = one[field]
              return hash === null ? null : (
                <p className="sm any-word" key={field}>
                  <span className="muted">{of}</span> <span className="mono">{hash}</span>
                </p>
              )
            })}
          </li>
        ))}
      </ul>
      {left > 0 && <p className="muted sm">{left} more are not listed.</p>}
    </section>
  )
}

const NAMES: Readonly<Record<Receipt['deliverables'][number]['type'], string>> = {
  image: 'Picture',
  video: 'Video',
  link: 'Link',
  document: 'Document',
  code: 'Code',
  text: 'Text',
}

const HASHES = [
  ['file_sha256', 'of the file'],
  ['text_sha256', 'of the text'],
  ['url_sha256', 'of the address'],
] as const
