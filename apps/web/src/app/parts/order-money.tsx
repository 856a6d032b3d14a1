import type { Operations } from '@market/sdk'
import { shortened, shortTime, usdc } from '../format.ts'
import { amountOf, micros } from '../money.ts'
import { Network, OnChain } from './networks.tsx'

type Page = Operations['getOrder']['data']
type Step = Page['steps'][number]

/** Where the money of an order is, and each transfer between its places. */
export function OrderMoney({ page }: { readonly page: Page }) {
  const { order, agent, viewer_role: viewer } = page
  const { payment_network: network, outcome, price_usd: price } = order
  const stepOf = (kind: Step['kind']) => page.steps.findLast((step) => step.kind === kind)
  const payment = stepOf('payment')
  const isInEscrow = order.escrow_tx_hash !== null && outcome === null
  const payer = viewer === 'buyer' ? 'Your wallet' : 'The wallet that pays'
  return (
    <section className="card">
      <header>
        <h2>Money</h2>
        <span className="push">{network === null ? 'nothing paid yet' : <Network name={network} />}</span>
      </header>
      <div className="pad">
        <ol className="path" aria-label="Path of the money">
          <li className="place">
            <i />
            <span>
              <strong>{payer}</strong>{' '}
              {order.client_wallet !== null && (
                <span className="mono muted sm">{shortened(order.client_wallet)}</span>
              )}
            </span>
          </li>
          <li className={order.escrow_tx_hash === null ? 'move future' : 'move'}>
            <div>
              <Amount
                amount={payment?.amount_usd ?? price}
                aside={payment === undefined ? '' : payment.final === true ? 'final' : 'not final yet'}
              />
              <Paid page={page} payment={payment} />
            </div>
          </li>
          <li className={isInEscrow ? 'place full' : 'place future'}>
            <i />
            <span className="between">
              <strong>Escrow</strong>
              {isInEscrow && <span className="usd">{usdc(payment?.amount_usd ?? price ?? '0')}</span>}
            </span>
          </li>
          <li className={outcome === null ? 'move future' : 'move'}>
            <Parts page={page} refund={stepOf('refund')} payout={stepOf('payout')} />
          </li>
          <li className={outcome === null ? 'place future' : 'place'}>
            <i />
            <strong className="any-word">{endOf(page, agent.name, payer)}</strong>
          </li>
        </ol>
      </div>
    </section>
  )
}

interface AmountProps {
  readonly amount: string | null
  readonly aside?: string
}

const Amount = ({ amount, aside = '' }: AmountProps) => (
  <span className="between">
    {amount === null ? (
      <span className="muted">no price yet</span>
    ) : (
      <span className="usd">
        {usdc(amount)} <small>USDC</small>
      </span>
    )}
    <span className={aside === 'final' ? 'badge good' : 'muted'}>{aside}</span>
  </span>
)

/** By which transfer the order was paid. */
function Paid({ page: { order }, payment }: { readonly page: Page; readonly payment: Step | undefined }) {
  const { payment_network: network, outcome } = order
  const hash = order.escrow_tx_hash ?? order.pending_tx_hash
  if (network === null || hash === null)
    return outcome === null ? <span className="muted">not paid yet</span> : null
  return (
    <span className="muted line-up wrap-ok">
      <OnChain network={network} kind="transaction" text={hash} />
      {order.escrow_tx_hash === null
        ? 'waits for confirmations'
        : shortTime(payment?.at ?? order.paid_at ?? order.created_at)}
    </span>
  )
}

interface PartsProps {
  readonly page: Page
  readonly refund: Step | undefined
  readonly payout: Step | undefined
}

/** What becomes of the money in escrow. */
function Parts({ page: { order, agent, agent_paid: isPaid, refund: refunded }, refund, payout }: PartsProps) {
  const { outcome, agent_usd: agentPart, fee_usd: fee, review_ends_at: ends } = order
  if (outcome === 'unpaid') return <span className="muted">nothing was paid</span>
  const when =
    outcome === null
      ? `when it is approved${ends === null ? '' : ` or on ${shortTime(ends)}`}`
      : isPaid
        ? 'paid'
        : 'when the payment is final'
  const returned = refund?.amount_usd ?? refunded?.amount_usd ?? null
  // Of a workspace that has ended, where generations failed.
  const back = micros(order.price_usd ?? '0') - micros(agentPart ?? '0') - micros(fee ?? '0')
  const isAgentPaid = outcome === null || outcome === 'released' || outcome === 'split'
  return (
    <div className="fork">
      {isAgentPaid && agentPart !== null && (
        <div className="stack-0">
          <Amount amount={agentPart} />
          <span className="muted any-word">
            to {agent.name}, {when}
          </span>
          <Sent step={payout} />
        </div>
      )}
      {isAgentPaid && fee !== null && (
        <div className="stack-0">
          <Amount amount={fee} />
          <span className="muted">fee of the market</span>
        </div>
      )}
      {outcome === null && order.delivered_at !== null && back > 0n && (
        <div className="stack-0">
          <Amount amount={amountOf(back)} />
          <span className="muted">back to the wallet that paid</span>
        </div>
      )}
      {(outcome === 'refunded' || outcome === 'split') && (
        <div className="stack-0">
          <Amount amount={returned ?? order.price_usd} />
          <span className="muted">
            {refunded?.status === 'sent' ? 'refunded' : 'to be refunded'} to the wallet that paid
          </span>
          <Sent step={refund} />
        </div>
      )}
    </div>
  )
}

const Sent = ({ step }: { readonly step: Step | undefined }) =>
  step === undefined || step.network === null || step.tx_hash === null ? null : (
    <OnChain network={step.network} kind="transaction" text={step.tx_hash} />
  )

function endOf({ order: { outcome } }: Page, agent: string, payer: string): string {
  if (outcome === 'refunded' || outcome === 'unpaid') return payer
  return outcome === 'split' ? `${agent}, and ${payer.toLowerCase()}` : agent
}
