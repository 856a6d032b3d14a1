import { usdc } from '../format.ts'
import { sumOf } from '../money.ts'
import type { Action, OrderAct, OrderPage } from './order-page.ts'

/** What the button of an action says, and what happens then. */
interface ActWords {
  readonly label: string
  /** Beside the label. */
  readonly aside?: string
  /** The title of the dialog. */
  readonly title: string
  readonly text: string
  /** The button that does it. */
  readonly confirm: string
  readonly style: 'primary' | 'quiet danger' | 'quiet' | ''
}

export function wordsOf({ action }: OrderAct, { order, agent }: OrderPage): ActWords {
  const price = order.price_usd === null ? '' : usdc(order.price_usd)
  const { agent_usd: part, fee_usd: fee } = order
  // A part of the price of a workspace may go back.
  const released = part === null || fee === null ? price : usdc(sumOf([part, fee]))
  const isPaid = order.paid_at !== null
  const left = order.max_revisions - order.revision_count
  const words: Readonly<Record<Action, ActWords>> = {
    pay: {
      label: `Pay ${price}`,
      title: `Pay ${price} USDC into escrow`,
      text: order.service_title,
      confirm: `Pay ${price}`,
      style: 'primary',
    },
    accept: {
      label: 'Accept the price',
      title: 'Accept the price?',
      text: `${price} USDC is then fixed for at least 24 hours, in which you pay.`,
      confirm: 'Accept',
      style: '',
    },
    approve: {
      label: `Approve and release ${released}`,
      title: `Release ${released} USDC?`,
      text: `${agent.name} gets ${usdc(order.agent_usd ?? '0')} and the market ${usdc(order.fee_usd ?? '0')}. This cannot be taken back.`,
      confirm: `Release ${released}`,
      style: 'primary',
    },
    revision: {
      label: 'Request a revision',
      aside: left > 0 ? `${left} left` : 'beyond what is included',
      title: 'What is to change?',
      text: `Your time to decide is paused until ${agent.name} delivers again.`,
      confirm: 'Request the revision',
      style: '',
    },
    dispute: {
      label: 'Open a dispute',
      title: 'What is wrong?',
      text: 'An operator reads both sides and decides. The money stays in escrow until then.',
      confirm: 'Open the dispute',
      style: 'quiet danger',
    },
    cancel: {
      label: isPaid ? 'Cancel and refund' : 'Cancel',
      title: isPaid ? 'Cancel and refund?' : 'Cancel the order?',
      text: isPaid
        ? 'Everything that was paid goes back to the wallet that paid.'
        : 'Nothing was paid. A transfer that still arrives is sent back.',
      confirm: isPaid ? 'Cancel and refund' : 'Cancel the order',
      style: 'quiet',
    },
    review: {
      label: 'Write a review',
      title: 'How was it?',
      text: 'Everybody can read it. It does not name you.',
      confirm: 'Publish the review',
      style: 'primary',
    },
    quote: {
      label: 'Send a quote',
      title: 'Send a quote',
      text: 'In USDC. The market’s fee is part of it.',
      confirm: 'Send the quote',
      style: 'primary',
    },
    start: {
      label: 'Start',
      title: 'Start the work?',
      text: 'The buyer can then cancel only when the delivery is late.',
      confirm: 'Start',
      style: '',
    },
    deliver: {
      label: order.delivered_at === null ? 'Deliver' : 'Deliver again',
      title: 'Deliver',
      text: 'A link with https, or the id of an uploaded file. It replaces what was delivered before.',
      confirm: 'Deliver',
      style: order.status === 'delivered' ? '' : 'primary',
    },
    decline_revision: {
      label: 'Decline',
      aside: `beyond ${order.max_revisions}`,
      title: 'Decline the revision?',
      text: 'The buyer then approves or disputes the last delivery.',
      confirm: 'Decline',
      style: '',
    },
    refund: {
      label: 'Refund',
      title: 'Refund the buyer?',
      text: 'Everything that was paid goes back to the wallet that paid, and the order ends.',
      confirm: 'Refund',
      style: 'quiet danger',
    },
  }
  return words[action]
}

const FIRST: readonly Action[] = [
  'pay',
  'approve',
  'review',
  'quote',
  'deliver',
  'start',
  'accept',
  'revision',
]

/** At most three, the one that leads on first. */
export const buttonsOf = (acts: readonly OrderAct[]): readonly OrderAct[] =>
  acts.toSorted((one, other) => rank(one) - rank(other)).slice(0, 3)

const rank = ({ action }: OrderAct): number => {
  const at = FIRST.indexOf(action)
  return at === -1 ? FIRST.length : at
}

/** What a field of an action asks for. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  feedback: 'What to change',
  reason: 'What is wrong',
  rating: 'Stars',
  comment: 'Your review',
  price_usd: 'Price in USDC',
  expires_in_hours: 'Valid for hours',
  message: 'Message',
  deliverable_url: 'Link or upload id',
  deliverable_media_type: 'Media type, such as image/png',
  note: 'Note',
}
