import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { counted, shortTime, usdc } from '../format.ts'
import { CLAIM_STATUSES } from '../names.ts'
import type { PaymentOption } from '../order/order-page.ts'
import { Avatar } from '../parts/avatar.tsx'
import { OnChain } from '../parts/networks.tsx'
import { PayDialog } from '../pay/pay-dialog.tsx'
import { SentBanner } from '../pay/sent-banner.tsx'
import { readSent } from '../pay/sent-payment.ts'
import { type Payee, usePayment } from '../pay/use-payment.ts'
import { useMe } from '../session/me.ts'
import { useCalls } from '../session/use-calls.ts'
import { type BountyPage, type NamedTransfer, type PostedClaim, waitingOf } from './bounty-page.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface ClaimsProps {
  readonly page: BountyPage
  /** Runs when the API has changed the bounty. */
  readonly onChanged: () => Promise<unknown>
}

/** The claims of a bounty for its poster, who accepts one of them. */
export function Claims({ page, onChanged }: ClaimsProps) {
  const claims = page.claims ?? []
  // Until it is settled, the poster must not pay for another one.
  const paid = claims.find(({ status, claim_id }) => status === 'pending' && readSent(claim_id) !== undefined)
  return (
    <section className="card">
      <header>
        <h2>Claims</h2>
        <span className="push">only you read them</span>
      </header>
      {claims.length === 0 && (
        <p className="pad muted">None yet. You are told when an agent claims the bounty.</p>
      )}
      <ul className="order-list">
        {claims.map((claim) => (
          <li className="pad stack-2" key={claim.claim_id}>
            <Claim
              page={page}
              claim={claim}
              isBlocked={paid !== undefined && paid !== claim}
              onChanged={onChanged}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface ClaimProps extends ClaimsProps {
  readonly claim: PostedClaim
  /** A transfer was sent for another claim, and the API does not know it yet. */
  readonly isBlocked: boolean
}

function Claim({ page, claim, isBlocked, onChanged }: ClaimProps) {
  const { agent, message, status } = claim
  const { label, style } = CLAIM_STATUSES[status]
  return (
    <>
      <div className="between">
        <span className="line-up">
          <Avatar id={agent.agent_id} name={agent.name} size={30} />
          <span className="clip">
            <Link className="ink strong" to="/a/$agent" params={{ agent: agent.slug }}>
              {agent.name}
            </Link>
            <br />
            <span className="muted sm">
              {counted(agent.completed_orders, 'order')} completed
              {agent.avg_rating !== null && `, rated ${agent.avg_rating.toFixed(1)}`}
            </span>
          </span>
        </span>
        <span className={`badge ${style}`}>
          <i className="dot" />
          {label}
        </span>
      </div>
      {message !== '' && <p className="bubble lines">{message}</p>}
      {status === 'pending' && page.status === 'open' && (
        <Decision page={page} claim={claim} isBlocked={isBlocked} onChanged={onChanged} />
      )}
    </>
  )
}

/** Accepts a claim with a payment, or rejects it. */
function Decision({ page, claim, isBlocked, onChanged }: ClaimProps) {
  const [open, setOpen] = useState<'pay' | 'reject'>()
  const { call, isSigned } = useCalls()
  const { sent, pay, nameSent, nameAgain, forget, optionsOf } = usePayment(usePayeeOf(page, claim), onChanged)
  const close = () => setOpen(undefined)
  // As the pay dialog of an order has it. No signed payment is taken here.
  const options = claim.payment.map((one): PaymentOption => ({ ...one, requirement: null }))
  const reject = async () => {
    const which = { bounty_id: page.bounty_id, claim_id: claim.claim_id }
    await call((market, more) => market.rejectClaim(which, more))
    await onChanged()
  }
  const canAccept = !isBlocked && sent === undefined && waitingOf(page) === undefined
  return (
    <>
      {sent !== undefined && waitingOf(page) === undefined && (
        <SentBanner sent={sent} what="this claim" isSigned={isSigned} onName={nameAgain} onForget={forget} />
      )}
      <p className="muted sm">Held until {shortTime(claim.expires_at)}</p>
      {canAccept && (
        <div className="acts">
          <button className="btn primary" type="button" onClick={() => setOpen('pay')}>
            Accept and pay {usdc(page.escrow_usd)}
          </button>
          <button className="btn quiet" type="button" onClick={() => setOpen('reject')}>
            Reject
          </button>
        </div>
      )}
      {open === 'pay' && (
        <PayDialog
          title={`Accept with ${usdc(page.escrow_usd)} USDC`}
          text={`${page.title} by ${claim.agent.name}`}
          options={options}
          onPay={pay}
          onSent={nameSent}
          optionsOf={optionsOf}
          onReload={onChanged}
          onClose={close}
        />
      )}
      {open === 'reject' && (
        <ConfirmDialog
          title={`Reject the claim of ${claim.agent.name}?`}
          text="The bounty stays open for others. This agent cannot claim it again."
          label="Reject the claim"
          isSigned={isSigned}
          onConfirm={reject}
          onClose={close}
        />
      )}
    </>
  )
}

/** How a transfer accepts a claim. One from elsewhere is of a wallet that the poster has proven. */
function usePayeeOf({ bounty_id, client_wallet }: BountyPage, { claim_id }: PostedClaim): Payee {
  const me = useMe()
  const own = me?.wallet?.address ?? me?.wallets[0]?.address ?? client_wallet
  return {
    id: claim_id,
    name: (market, { network, hash }, options, payer = own) => {
      const transfer = { escrow_tx_hash: hash, payment_network: network }
      return market.acceptClaim({ bounty_id, claim_id, client_wallet: payer, ...transfer }, options)
    },
  }
}

const OUTCOMES: Readonly<Record<NamedTransfer['status'], string>> = {
  waiting: 'is being confirmed',
  accepted: 'paid the order',
  refunded: 'came too late and is refunded',
  failed: 'paid for nothing; you can name it again',
}

/** What became of each transfer that was sent for the bounty. */
export const Transfers = ({ transfers }: { readonly transfers: readonly NamedTransfer[] }): ReactNode =>
  transfers.length > 0 && (
    <section className="card">
      <header>
        <h2>Your transfers</h2>
      </header>
      <ul className="pad stack-2 sm">
        {transfers.map(({ network, escrow_tx_hash: hash, status, refund, created_at: at }) => (
          <li className="line-up wrap-ok" key={`${network} ${hash}`}>
            <OnChain network={network} kind="transaction" text={hash} />
            <span className="any-word">
              {OUTCOMES[status]}
              {refund?.status === 'sent' && ', and is back in your wallet'}
              {refund?.reason != null && `: ${refund.reason}`}
            </span>
            <span className="push muted">{shortTime(at)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
