import type { WalletEvidence } from '@market/core/ports/signatures'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { AgentId, BountyId, ListingId, OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { waitingTransactions } from '@market/money/payments'
import { type Insertable, type Selectable, sql } from 'kysely'
import {
  type AllFacts,
  type Buyer,
  type Core,
  dueAt,
  type Order,
  type Payment,
  type PriceType,
} from './order.ts'
import type { Status } from './states.ts'

/** With the transfer that the order waits for, which its payment intent has. */
export type Row = Selectable<Tables['orders']> & { readonly pending: Payment | null }

/** Of each row of `orders`. */
export const pendingPayment = sql<Payment | null>`
  (select json_build_object('network', network, 'reference', reference) from ${waitingTransactions} as waiting
    where waiting.kind = 'order' and waiting.id = orders.id)`

/** The columns that can change after the order was created. */
export function changing(order: Order) {
  const facts: Partial<AllFacts> = order as Partial<AllFacts>
  return {
    status: order.status,
    client_wallet: order.clientWallet,
    client_proven_by: order.clientProvenBy,
    revision_count: order.revisionCount,
    quota_used: order.quotaUsed,
    quota_pending: order.quotaPending,
    quota_failed: order.quotaFailed,
    workspace_ends_at: order.workspaceEndsAt,
    payer_proven: order.payerProven,
    payout_waits_until: order.payoutWaitsUntil,
    contested_at: order.contest?.at ?? null,
    contest_ends_at: order.contest?.endsAt ?? null,
    updated_at: order.updatedAt,
    due_at: dueAt(order),
    price_micros: facts.price ?? null,
    price_until: facts.priceUntil ?? null,
    quote_message: facts.quoteMessage ?? null,
    payment_error: facts.paymentError ?? null,
    payment_network: facts.payment?.network ?? null,
    payment_reference: facts.payment?.reference ?? null,
    paid_at: facts.paidAt ?? null,
    deliver_by: facts.deliverBy ?? null,
    delivered_at: facts.deliveredAt ?? null,
    review_ends_at: facts.reviewEndsAt ?? null,
    review_left_ms: facts.reviewLeftMs === undefined ? null : BigInt(Math.round(facts.reviewLeftMs)),
    complaint: facts.complaint ?? null,
    closed_at: facts.closedAt ?? null,
    outcome: facts.outcome ?? null,
    agent_part_micros: order.agentPart,
  } satisfies Partial<Insertable<Tables['orders']>>
}

export const selectOrders = (db: Db | Tx) =>
  db.selectFrom('orders').selectAll().select(pendingPayment.as('pending'))

/** Reads an order from its row; fails when a column that its status requires is null. */
export function fromRow(row: Row): Order {
  const core: Core = {
    id: row.id as OrderId,
    listingId: row.listing_id as ListingId | null,
    bountyId: row.bounty_id as BountyId | null,
    agentId: row.agent_id as AgentId,
    buyer: row.buyer as Buyer,
    clientWallet: row.client_wallet,
    clientProvenBy: row.client_proven_by as WalletEvidence | null,
    title: row.title,
    brief: row.brief,
    referenceUrls: row.reference_urls,
    referenceImages: row.reference_images,
    requirementAnswers: row.requirement_answers as Record<string, unknown>,
    priceType: row.price_type as PriceType,
    turnaroundHours: row.turnaround_hours,
    maxRevisions: row.max_revisions,
    revisionCount: row.revision_count,
    isPrivate: row.is_private,
    quotaTotal: row.quota_total,
    quotaUsed: row.quota_used,
    quotaPending: row.quota_pending,
    quotaFailed: row.quota_failed,
    workspaceEndsAt: row.workspace_ends_at,
    paymentMethod: row.payment_method as Core['paymentMethod'],
    forPrincipal: row.for_principal,
    payerProven: row.payer_proven,
    agentPart: row.agent_part_micros === null ? null : usdc(row.agent_part_micros),
    payoutWaitsUntil: row.payout_waits_until,
    contest: row.contested_at === null ? null : { at: row.contested_at, endsAt: row.contest_ends_at },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
  const known = <K extends keyof Row>(key: K): NonNullable<Row[K]> => {
    const value = row[key]
    assert(value !== null && value !== undefined, `${row.status} order ${row.id} has ${key}`)
    return value as NonNullable<Row[K]>
  }
  const priced = () => ({
    price: usdc(known('price_micros')),
    priceUntil: row.price_until,
    quoteMessage: row.quote_message,
  })
  const paid = () => ({
    ...priced(),
    payment: { network: known('payment_network') as Network, reference: known('payment_reference') },
    paidAt: known('paid_at'),
    deliverBy: known('deliver_by'),
  })
  const delivered = () => ({ ...paid(), deliveredAt: known('delivered_at') })
  const complained = () => ({
    ...delivered(),
    reviewLeftMs: Number(known('review_left_ms')),
    complaint: known('complaint'),
  })
  const read: { [S in Status]: () => Order<S> } = {
    pending_quote: () => ({ ...core, status: 'pending_quote' }),
    quoted: () => ({ ...core, status: 'quoted', ...priced() }),
    accepted: () => ({
      ...core,
      status: 'accepted',
      ...priced(),
      pending: row.pending,
      paymentError: row.payment_error,
    }),
    paid: () => ({ ...core, status: 'paid', ...paid() }),
    in_progress: () => ({ ...core, status: 'in_progress', ...paid() }),
    delivered: () => ({
      ...core,
      status: 'delivered',
      ...delivered(),
      reviewEndsAt: known('review_ends_at'),
    }),
    revision_requested: () => ({ ...core, status: 'revision_requested', ...complained() }),
    disputed: () => ({ ...core, status: 'disputed', ...complained() }),
    completed: () => ({
      ...core,
      status: 'completed',
      ...delivered(),
      closedAt: known('closed_at'),
      outcome: known('outcome') as Order<'completed'>['outcome'],
    }),
    cancelled: () => ({
      ...core,
      status: 'cancelled',
      ...(row.price_micros === null ? {} : priced()),
      ...(row.payment_reference === null ? {} : paid()),
      closedAt: known('closed_at'),
      outcome: known('outcome') as Order<'cancelled'>['outcome'],
      pending: row.pending,
    }),
  }
  assert(Object.hasOwn(read, row.status), `status ${row.status} is one of ours`)
  return read[row.status as Status]()
}
