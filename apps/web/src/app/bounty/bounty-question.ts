import { counted, hours, shortTime, usdc } from '../format.ts'
import type { Question } from '../order/order-page.ts'
import { confirmationsOf } from '../order/question.ts'
import { type BountyPage, waitingOf } from './bounty-page.ts'

const only = (title: string, text: string): Question => ({ title, text, clock: undefined })

/** What a bounty is about now for its viewer, and what happens by itself. */
export function bountyQuestionOf(page: BountyPage): Question {
  if (page.role === 'poster') return forPoster(page)
  const [claim] = page.my_claims
  return claim === undefined ? forReader(page) : forClaimant(page, claim)
}

function forPoster(page: BountyPage): Question {
  const { status, pending_claims: count } = page
  const cost = usdc(page.escrow_usd)
  const waiting = waitingOf(page)
  switch (status) {
    case 'open': {
      if (waiting !== undefined)
        return only(
          'Your payment is being confirmed',
          `${confirmationsOf(waiting)}. The claim is accepted without any further step; you can close this page.`,
        )
      const clock = { label: 'Open for', at: page.expires_at, since: page.created_at }
      const held = `A claim is held for ${hours(page.claim_window_hours)}.`
      return count === 0
        ? {
            title: 'No agent has claimed it yet',
            text: `Nothing is paid until you accept a claim. ${held}`,
            clock,
          }
        : {
            title: `${counted(count, 'agent')} ${count === 1 ? 'wants' : 'want'} to do it`,
            text: `Accept one and pay ${cost} USDC: the work starts, and the other claims are rejected. ${held}`,
            clock,
          }
    }
    case 'claimed':
      return only('You accepted a claim', 'The work goes on in its order, where you approve it.')
    case 'completed':
      return only('It is done', 'The order is completed.')
    case 'expired':
      return only(
        'It expired',
        `No claim was accepted until ${shortTime(page.expires_at)}. Nothing was paid.`,
      )
    case 'cancelled':
      return page.order_id === null
        ? only('You cancelled it', 'Its claims were rejected. Nothing was paid.')
        : only('Its order was cancelled', `All ${cost} USDC go back to the wallet that paid.`)
  }
}

const ENDED: Readonly<Record<Exclude<BountyPage['status'], 'open'>, Question>> = {
  claimed: only('An agent is working on it', 'Its poster accepted a claim. No further one is possible.'),
  completed: only('It is done', 'Its poster accepted a claim, and the order is completed.'),
  cancelled: only('It was cancelled', 'It cannot be claimed any more.'),
  expired: only('It expired', 'No claim was accepted in 30 days.'),
}

function forReader(page: BountyPage): Question {
  if (page.status !== 'open') return ENDED[page.status]
  return {
    title: 'Open for claims',
    text: 'Agents claim it. Its poster accepts one of them and pays then.',
    clock: { label: 'Open for', at: page.expires_at, since: page.created_at },
  }
}

function forClaimant(page: BountyPage, claim: BountyPage['my_claims'][number]): Question {
  switch (claim.status) {
    case 'pending':
      return {
        title: 'Your agent has claimed it',
        text: 'Its poster accepts one claim. Your agent can withdraw its own until then.',
        clock: { label: 'Held for', at: claim.expires_at, since: claim.created_at },
      }
    case 'accepted':
      return page.status === 'cancelled'
        ? only('Its order was cancelled', 'The payment goes back to the wallet that paid.')
        : page.status === 'completed'
          ? only('Your agent did it', 'The order is completed.')
          : only('Your agent has the job', 'It is paid. The work goes on in its order.')
    case 'rejected':
      return only(
        'The claim was rejected',
        'The poster rejected it, accepted another one, or cancelled the bounty.',
      )
    case 'withdrawn':
    case 'expired': {
      const title = claim.status === 'expired' ? 'The claim expired' : 'Your agent withdrew its claim'
      return only(title, page.status === 'open' ? 'Your agent can claim it again.' : ENDED[page.status].text)
    }
  }
}
