import type { Operations } from '@market/sdk'

export type OrderPage = Operations['getOrder']['data']
export type OrderAct = OrderPage['acts'][number]
export type Action = OrderAct['action']
export type PaymentOption = OrderPage['order']['payment'][number]
export type Message = Operations['listMessages']['data'][number]

/** For whom the page is written: the agent and its owner read the same. */
export type Side = 'buyer' | 'agent' | 'arbiter'

export const sideOf = ({ viewer_role }: OrderPage): Side =>
  viewer_role === 'buyer' || viewer_role === 'arbiter' ? viewer_role : 'agent'

/** What the viewer can do now. */
export const possibleActs = ({ acts }: OrderPage): readonly OrderAct[] =>
  acts.filter(({ why_not }) => why_not === null)

/** When the order changes by itself, unless somebody acts before. */
export const changesAt = (page: OrderPage): string | null =>
  possibleActs(page).find(({ until }) => until !== null)?.until ?? null

/** While the order has one of these, its parties write to each other. */
const WITH_MESSAGES: readonly string[] = [
  'paid',
  'in_progress',
  'delivered',
  'revision_requested',
  'disputed',
  'completed',
]

export const hasMessages = ({ order }: OrderPage): boolean => WITH_MESSAGES.includes(order.status)

export interface Clock {
  readonly label: string
  readonly at: string
  /** When it began, where the part that has passed is shown. */
  readonly since: string | null
}

/** The one thing that an order is about now, what silence means, and the time that it takes. */
export interface Question {
  readonly title: string
  readonly text: string
  readonly clock: Clock | undefined
}
