import { counted, shortTime, usdc } from '../format.ts'
import { type Clock, changesAt, type OrderPage, type Question, type Side, sideOf } from './order-page.ts'
import { openWorkspace, settledByCount } from './workspace-question.ts'

const clockTo = (label: string, at: string | null, since: string | null = null): Clock | undefined =>
  at === null ? undefined : { label, at, since }

/** The question of an order for its viewer. `now` says whether a delivery is late. */
export function questionOf(page: OrderPage, now: number): Question {
  const { order } = page
  const side = sideOf(page)
  if (order.contested_at !== null)
    return {
      title: side === 'buyer' ? 'Another request named your payment' : 'The payment is contested',
      text:
        page.sign === null
          ? 'Nobody can act on the order until this is decided.'
          : 'Only the wallet that paid can sign for it. Without its signature the payment is refunded.',
      clock: clockTo('Refunded by itself in', order.contest_ends_at),
    }
  switch (order.status) {
    case 'pending_quote':
    case 'quoted':
    case 'accepted':
      return unpaid(page, side)
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      return atWork(page, side, now)
    case 'delivered':
      return delivered(page, side)
    case 'disputed':
      return disputed(page, side)
    case 'completed':
      return completed(page, side)
    case 'cancelled':
      return cancelled(page, side)
  }
}

function unpaid(page: OrderPage, side: Side): Question {
  const { order, agent, pending_payment: pending } = page
  if (order.status === 'pending_quote')
    return side === 'agent'
      ? {
          title: 'What do you ask for it?',
          text: 'The buyer pays after your quote. Nothing is paid yet.',
          clock: undefined,
        }
      : {
          title: 'Waiting for a price',
          text: `${agent.name} reads what you need and names a price. Nothing is paid yet.`,
          clock: undefined,
        }
  if (pending !== null && order.payment_error !== null)
    return {
      title: 'The chain took the payment back',
      text: side === 'agent' ? 'Stop working until it is paid again.' : order.payment_error,
      clock: undefined,
    }
  if (pending !== null)
    return {
      title: side === 'buyer' ? 'Your payment is being confirmed' : 'The payment is being confirmed',
      text: `${confirmationsOf(pending)}. The order is paid without any further step; you can close this page.`,
      clock: undefined,
    }
  if (side !== 'buyer')
    return {
      title: 'Waiting for the payment',
      text: 'Work starts when the payment is confirmed.',
      clock: clockTo('The price ends in', order.price_until),
    }
  const price = `${usdc(order.price_usd ?? '0')} USDC`
  if (order.payment_error !== null)
    return {
      title: 'The payment did not arrive',
      text: order.payment_error,
      clock: clockTo('The price ends in', order.price_until),
    }
  return {
    title: order.quote_message === null ? `Pay ${price}` : `${agent.name} asks ${price}`,
    text: `The money is held in escrow until you approve the work, which starts when the payment is confirmed.${
      order.price_until === null ? '' : ' After this time the price has to be asked for again.'
    }`,
    clock: clockTo('The price ends in', order.price_until),
  }
}

/** "7 of 12 confirmations" */
export function confirmationsOf({
  confirmations,
  required,
}: Pick<NonNullable<OrderPage['pending_payment']>, 'confirmations' | 'required'>): string {
  if (confirmations === null) return 'The transfer is named, and no block has it yet'
  if (required === null) return 'The transfer is seen, and counts when the chain says that it is final'
  return `${confirmations} of ${counted(required, 'confirmation')}`
}

function atWork(page: OrderPage, side: Side, now: number): Question {
  const { order, agent } = page
  const { deliver_by: due, workspace_ends_at: ends, status } = order
  if (ends !== null) return openWorkspace(page, side, now)
  const refundAt = changesAt(page)
  const isLate = due !== null && Date.parse(due) < now
  const bySilence =
    refundAt === null ? '' : ` Without a delivery it is refunded by itself on ${shortTime(refundAt)}.`
  if (isLate)
    return {
      title: side === 'agent' ? 'The delivery is late' : `${agent.name} is late`,
      text:
        side === 'agent'
          ? `Deliver now: the buyer can take the money back.${bySilence}`
          : `Cancel and get everything back, or wait.${bySilence}`,
      clock: clockTo('Refunded by itself in', refundAt),
    }
  const label = status === 'revision_requested' ? 'New delivery due in' : 'Delivery due in'
  const clock = clockTo(label, due, order.paid_at)
  if (side === 'agent')
    return {
      title:
        status === 'revision_requested'
          ? 'The buyer asks for a change'
          : status === 'paid'
            ? 'Paid. Start the work'
            : 'You are working on it',
      text:
        status === 'revision_requested'
          ? (order.complaint ?? '')
          : `The money is in escrow until the buyer approves.${bySilence}`,
      clock,
    }
  return {
    title:
      status === 'revision_requested'
        ? `${agent.name} is changing it`
        : status === 'paid'
          ? `${agent.name} was told to start`
          : `${agent.name} is working`,
    text:
      status === 'revision_requested'
        ? 'Your time to decide is paused until the new delivery.'
        : `The money is in escrow.${status === 'paid' ? ' Until work starts you can cancel and get everything back.' : ''}${bySilence}`,
    clock,
  }
}

function delivered(page: OrderPage, side: Side): Question {
  const { order, agent } = page
  const { review_ends_at: ends, delivered_at: since } = order
  const bySilence =
    ends === null
      ? ''
      : ` If ${side === 'buyer' ? 'you do' : 'the buyer does'} nothing, it is approved by itself on ${shortTime(ends)}.`
  if (order.quota_total !== null)
    return {
      title: 'The workspace has ended',
      text: `${settledByCount(page)}${bySilence}`,
      clock: clockTo(side === 'buyer' ? 'Time to decide' : 'Approved by itself in', ends, since),
    }
  if (side === 'buyer')
    return {
      title: 'Is this what you ordered?',
      text: `Approve it and ${agent.name} is paid.${bySilence}`,
      clock: clockTo('Time to decide', ends, since),
    }
  return {
    title: 'The buyer looks at the delivery',
    text: `Approve, revision or dispute are up to the buyer.${bySilence}`,
    clock: clockTo('Approved by itself in', ends, since),
  }
}

function disputed({ agent }: OrderPage, side: Side): Question {
  const texts: Readonly<Record<Side, string>> = {
    buyer: `An operator reads both sides. The money stays in escrow until then. You can still approve, and ${agent.name} can refund you.`,
    agent: 'An operator reads both sides. You can deliver again, or refund the buyer.',
    arbiter: 'The decision is made at the operators’ desk. Reading this order is in the audit log.',
  }
  return {
    title: side === 'arbiter' ? 'Who gets the money?' : 'An operator decides',
    text: texts[side],
    clock: undefined,
  }
}

function completed(page: OrderPage, side: Side): Question {
  const { order, agent, review, payout, agent_paid: isPaid } = page
  const isSplit = order.outcome === 'split'
  const title = isSplit ? 'Decided: the money was divided' : 'Completed'
  if (side === 'agent')
    return {
      title: payout?.status === 'held' ? 'The payout waits' : title,
      text:
        payout?.reason ?? (isPaid ? 'The payout is final.' : 'The payout is sent when the payment is final.'),
      clock: payout?.status === 'held' ? clockTo('Sent at the latest in', payout.held_until) : undefined,
    }
  const paid = isPaid
    ? `${agent.name} was paid.`
    : `${agent.name} is paid when the chain can no longer reverse your payment.`
  return side === 'buyer' && review === null && !isSplit
    ? { title: 'How was it?', text: `${paid} Your review helps the next buyer.`, clock: undefined }
    : { title, text: paid, clock: undefined }
}

function cancelled({ order, refund }: OrderPage, side: Side): Question {
  if (order.outcome === 'unpaid') return { title: 'Cancelled', text: 'Nothing was paid.', clock: undefined }
  const whose = side === 'buyer' ? 'your wallet' : 'the wallet that paid'
  return {
    title: 'Cancelled and refunded',
    text:
      refund?.status === 'sent'
        ? `${usdc(refund.amount_usd)} USDC are back in ${whose}.`
        : (refund?.reason ?? `Everything goes back to ${whose} when the payment is final.`),
    clock: undefined,
  }
}
