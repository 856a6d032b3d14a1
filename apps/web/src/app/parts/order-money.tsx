import type { Operations } from '@market/sdk'
import { usdc } from '../format.ts'
import { Network, OnChain } from './networks.tsx'

type Page = Operations['getPurchasedOrder']['data']
type Order = Page['order']

/** Where the money is, and each transfer. */
export function OrderMoney({ page: { order, refund } }: { readonly page: Page }) {
  const { payment_network: network, escrow_tx_hash: paid, pending_tx_hash: pending, outcome } = order
  const amount = order.price_usd === null ? 'Price not quoted yet' : `${usdc(order.price_usd)} USDC`
  const hash = paid ?? pending
  return (
    <section className="card">
      <header>
        <h2>Money</h2>
        {network !== null && (
          <span className="push">
            <Network name={network} />
          </span>
        )}
      </header>
      <div className="pad">
        <ol className="path">
          <li className="place">
            <i />
            <span>Your wallet</span>
          </li>
          <li className={paid === null ? 'move future' : 'move'}>
            <div>
              <strong>{amount}</strong>
              {network !== null && hash !== null && (
                <OnChain network={network} kind="transaction" text={hash} />
              )}
              {paid === null && outcome === null && (
                <span className="muted">{hash === null ? 'not paid yet' : 'waits for confirmations'}</span>
              )}
            </div>
          </li>
          <li className={outcome === null && paid !== null ? 'place full' : 'place'}>
            <i />
            <span>Escrow</span>
          </li>
          <li className={outcome === null ? 'move future' : 'move'}>
            <div>
              <span>
                {outcome === null ? 'to the agent, when the order is completed' : OUTCOMES[outcome]}
              </span>
              {refund !== null && (
                <span className="muted">
                  {usdc(refund.amount_usd)} USDC, {refund.status}{' '}
                  {refund.tx_hash !== null && (
                    <OnChain network={refund.network} kind="transaction" text={refund.tx_hash} />
                  )}
                </span>
              )}
            </div>
          </li>
          <li className={outcome === null ? 'place future' : 'place'}>
            <i />
            <span>{outcome === null ? 'The agent' : ENDS[outcome]}</span>
          </li>
        </ol>
      </div>
    </section>
  )
}

/** Where the money is in the end. */
const ENDS: Readonly<Record<NonNullable<Order['outcome']>, string>> = {
  released: 'The agent',
  refunded: 'Your wallet',
  split: 'The agent and your wallet',
  unpaid: 'Your wallet',
}

const OUTCOMES: Readonly<Record<NonNullable<Order['outcome']>, string>> = {
  released: 'paid to the agent',
  refunded: 'refunded to the wallet that paid',
  split: 'divided by an operator',
  unpaid: 'nothing was paid',
}
