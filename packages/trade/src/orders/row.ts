import { columns, rowReader, rowWriter } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { waitingTransactions } from '@market/money/payments'
import { type Selectable, sql } from 'kysely'
import {
  type Core,
  dueAt,
  type Order,
  type Payment,
  type StoredFacts,
  type StoredOrder,
  storedOrder,
} from './order.ts'
import type { Status } from './states.ts'

/** With the transfer that the order waits for, which its payment intent has. */
export type Row = Selectable<Tables['orders']> & { readonly pending: Payment | null }

/** Of each row of `orders`. */
export const pendingPayment = sql<Payment | null>`
  (select json_build_object('network', network, 'reference', reference) from ${waitingTransactions} as waiting
    where waiting.kind = 'order' and waiting.id = orders.id)`

/** Written when the order is created. */
const FIXED = [
  'id',
  'listing_id',
  'bounty_id',
  'agent_id',
  'buyer',
  'title',
  'brief',
  'reference_urls',
  'reference_images',
  'requirement_answers',
  'price_type',
  'turnaround_hours',
  'max_revisions',
  'is_private',
  'quota_total',
  'payment_method',
  'for_principal',
  'created_at',
] as const

/** Not fields of an order: the first follows from them, and a sweep writes the second. */
const NO_FIELDS = ['due_at', 'renewal_offered_at'] as const

/** Columns that have another name or type than their field, or are a field together. */
const OTHERS = [
  'price_micros',
  'agent_part_micros',
  'contested_at',
  'contest_ends_at',
  'payment_network',
  'payment_reference',
  'review_left_ms',
] as const

/** Read into the fields that not every status has. */
const FACTS = [
  'status',
  'price_until',
  'quote_message',
  'payment_error',
  'paid_at',
  'deliver_by',
  'delivered_at',
  'review_ends_at',
  'complaint',
  'closed_at',
  'outcome',
] as const

type Columns = Tables['orders']
type Fixed = (typeof FIXED)[number]

const fixedRow = rowWriter<Pick<Columns, Fixed>, StoredOrder>()(
  FIXED.filter((name) => name !== 'requirement_answers'),
  { requirement_answers: ({ requirementAnswers }) => JSON.stringify(requirementAnswers) },
)

const changingRow = rowWriter<Omit<Columns, Fixed | (typeof NO_FIELDS)[number]>, StoredOrder>()(
  columns('orders', ...FIXED, ...NO_FIELDS, ...OTHERS),
  {
    price_micros: ({ price }) => price,
    agent_part_micros: ({ agentPart }) => agentPart,
    contested_at: ({ contest }) => contest?.at ?? null,
    contest_ends_at: ({ contest }) => contest?.endsAt ?? null,
    payment_network: ({ payment }) => payment?.network ?? null,
    payment_reference: ({ payment }) => payment?.reference ?? null,
    review_left_ms: ({ reviewLeftMs }) => (reviewLeftMs === null ? null : BigInt(Math.round(reviewLeftMs))),
  },
)

/** The columns that can change after the order was created. */
export const changing = (order: Order) => ({ ...changingRow(storedOrder(order)), due_at: dueAt(order) })

export const newRow = (order: Order) => ({ ...fixedRow(storedOrder(order)), ...changing(order) })

export const selectOrders = (db: Db | Tx) =>
  db.selectFrom('orders').selectAll().select(pendingPayment.as('pending'))

const coreOf = rowReader<Row, Core>()(columns('orders', ...NO_FIELDS, ...OTHERS, ...FACTS), {
  agentPart: ({ agent_part_micros: part }) => (part === null ? null : usdc(part)),
  contest: ({ contested_at: at, contest_ends_at: endsAt }) => at && { at, endsAt },
})

const factsOf = rowReader<Row, StoredFacts>()(
  FACTS.filter((name) => name !== 'status'),
  {
    price: ({ price_micros: price }) => (price === null ? null : usdc(price)),
    payment: ({ payment_network: network, payment_reference: reference }) =>
      reference === null ? null : { network: network as Network, reference },
    reviewLeftMs: ({ review_left_ms: left }) => (left === null ? null : Number(left)),
    pending: ({ pending }) => pending,
  },
)

/** Reads an order from its row; fails when a column that its status requires is null. */
export function fromRow(row: Row): Order {
  const [core, facts] = [coreOf(row), factsOf(row)]
  const known = <K extends keyof StoredFacts>(field: K): NonNullable<StoredFacts[K]> => {
    const value = facts[field]
    assert(value !== null && value !== undefined, `${row.status} order ${row.id} has ${field}`)
    return value as NonNullable<StoredFacts[K]>
  }
  const priced = () => ({
    price: known('price'),
    priceUntil: facts.priceUntil,
    quoteMessage: facts.quoteMessage,
  })
  const paid = () => ({
    ...priced(),
    payment: known('payment'),
    paidAt: known('paidAt'),
    deliverBy: known('deliverBy'),
  })
  const delivered = () => ({ ...paid(), deliveredAt: known('deliveredAt') })
  const complained = () => ({
    ...delivered(),
    reviewLeftMs: known('reviewLeftMs'),
    complaint: known('complaint'),
  })
  const read: { [S in Status]: () => Order<S> } = {
    pending_quote: () => ({ ...core, status: 'pending_quote' }),
    quoted: () => ({ ...core, status: 'quoted', ...priced() }),
    accepted: () => ({
      ...core,
      status: 'accepted',
      ...priced(),
      pending: facts.pending,
      paymentError: facts.paymentError,
    }),
    paid: () => ({ ...core, status: 'paid', ...paid() }),
    in_progress: () => ({ ...core, status: 'in_progress', ...paid() }),
    delivered: () => ({ ...core, status: 'delivered', ...delivered(), reviewEndsAt: known('reviewEndsAt') }),
    revision_requested: () => ({ ...core, status: 'revision_requested', ...complained() }),
    disputed: () => ({ ...core, status: 'disputed', ...complained() }),
    completed: () => ({
      ...core,
      status: 'completed',
      ...delivered(),
      closedAt: known('closedAt'),
      outcome: known('outcome') as Order<'completed'>['outcome'],
    }),
    cancelled: () => ({
      ...core,
      status: 'cancelled',
      ...(facts.price === null ? {} : priced()),
      ...(facts.payment === null ? {} : paid()),
      closedAt: known('closedAt'),
      outcome: known('outcome') as Order<'cancelled'>['outcome'],
      pending: facts.pending,
    }),
  }
  assert(Object.hasOwn(read, row.status), `status ${row.status} is one of ours`)
  return read[row.status as Status]()
}
