import type { Checks, Facts, OrderRow } from './facts.ts'
import { dueOf } from './purchase.ts'
import type { TestOrder } from './test-order.ts'

type BountyRow = Facts['bounties'][number]
type AcceptanceRow = Facts['acceptances'][number]

const ordersOf = ({ orders }: Facts, { id }: BountyRow): readonly OrderRow[] =>
  orders.filter(({ bounty_id }) => bounty_id === id)

/** The status of a bounty follows from its order. Without one, the poster or the clock ended it. */
function isRightStatus({ status }: BountyRow, order: OrderRow | undefined): boolean {
  if (order === undefined) return ['open', 'cancelled', 'expired'].includes(status)
  if (order.status === 'completed' || order.status === 'cancelled') return status === order.status
  return status === 'claimed'
}

/** Written out here and not taken from the product: what of 110 % goes where. The rest of it is the fee. */
function partsOf(order: OrderRow, budget: bigint): { payout: bigint; refund: bigint } {
  const due = dueOf(budget)
  if (order.status === 'cancelled') return { payout: 0n, refund: due }
  if (order.status !== 'completed') return { payout: 0n, refund: 0n }
  if (order.outcome !== 'split') return { payout: budget, refund: 0n }
  const part = order.agent_part_micros ?? 0n
  return { payout: (part * 10n) / 11n, refund: due - part }
}

function wrongAmounts(facts: Facts, bounty: BountyRow, order: OrderRow): string[] {
  // A payment that its chain took away and that was never made again leaves nothing to distribute.
  if (facts.paymentOf(order.id) === undefined) return []
  const wanted = partsOf(order, bounty.budget_micros)
  const payout = facts.payoutOf('payout', order.id)?.amount_micros ?? 0n
  const refund = facts.payoutOf('refund', order.id)?.amount_micros ?? 0n
  const isSame = payout === wanted.payout && refund === wanted.refund
  return isSame
    ? []
    : [
        `${bounty.id} of ${bounty.budget_micros} (${order.status} ${order.outcome}): payout ${payout} of ${wanted.payout}, refund ${refund} of ${wanted.refund}`,
      ]
}

/** Where the transfer of an acceptance must be: with the order, refunded as a whole, or unused. */
function wrongTransfer(facts: Facts, acceptance: AcceptanceRow): string[] {
  const { id, network, reference, status, order_id } = acceptance
  const refunded = facts.transfers.filter((one) => one.purpose === `bounty:${id}` && one.state !== 'gone')
  const payout = facts.payoutOf('refund', id)
  const [transfer] = refunded
  if (status !== 'refunded')
    return refunded.length === 0 && payout === undefined ? wrongPayment() : [`${id} (${status}) has a refund`]
  if (refunded.length !== 1 || transfer === undefined)
    return [`${id} refunds ${refunded.length} transfers instead of ${reference}`]
  const isWhole =
    transfer.network === network &&
    transfer.reference === reference &&
    payout?.network === network &&
    payout.amount_micros === transfer.amount_micros &&
    payout.payee === transfer.payer
  return isWhole
    ? []
    : [`${id} refunds ${payout?.amount_micros} of ${transfer.amount_micros} of ${reference}`]

  /** An order whose payment was undone may have been paid by another transfer. */
  function wrongPayment(): string[] {
    if (status === 'waiting') return [`${id} still waits for ${reference}`]
    if (order_id === null || facts.stepsOf(order_id).some(({ action }) => action === 'undo')) return []
    const payment = facts.paymentOf(order_id)
    // A cancelled order stays as it is when its chain takes the payment away.
    const isGone = facts.transfers.some((one) => one.reference === reference && one.state === 'gone')
    const isCancelled = facts.orders.some(({ id, status }) => id === order_id && status === 'cancelled')
    if (payment === undefined && isGone && isCancelled) return []
    return payment?.reference === reference ? [] : [`${order_id} is paid by ${payment?.reference}`]
  }
}

/** What the poster was told of each transfer is what happened to it, unless its chain took it away. */
function wrongResponses(facts: Facts, testOrder: TestOrder): string[] {
  const { bounty, acknowledged } = testOrder
  const named = facts.acceptances.filter(({ bounty_id }) => bounty_id === bounty?.id)
  return acknowledged
    .filter(({ action }) => action === 'accept_claim')
    .flatMap(({ status, code, reference = '' }) => {
      const of = named.filter((one) => one.reference === reference).map((one) => one.status)
      const isAccepted = status === 200 && of.includes('accepted')
      const isWaitedFor = status === 202 && of.length > 0
      const isRefunded = code === 'bounty_not_open' && (of.includes('refunded') || of.includes('failed'))
      const isOther = status >= 400 && code !== 'bounty_not_open'
      return isAccepted || isWaitedFor || isRefunded || isOther
        ? []
        : [`${reference} of ${bounty?.id}: ${status} ${code}, but is ${of}`]
    })
}

export const BOUNTY_CHECKS: Checks = {
  'a bounty has at most one order, and an accepted claim exactly if it has one': (facts) =>
    facts.bounties.flatMap((bounty) => {
      const orders = ordersOf(facts, bounty)
      const accepted = facts.claims.filter((one) => one.bounty_id === bounty.id && one.status === 'accepted')
      const won = facts.acceptances.filter((one) => one.bounty_id === bounty.id && one.status === 'accepted')
      const [[order], [claim], [acceptance]] = [orders, accepted, won]
      if (orders.length > 1 || accepted.length !== orders.length || won.length !== orders.length)
        return [`${bounty.id}: ${orders.length} orders, ${accepted.length} claims, ${won.length} acceptances`]
      const isSame =
        order?.agent_id === claim?.agent_id &&
        order?.id === (acceptance?.order_id ?? undefined) &&
        claim?.id === acceptance?.claim_id
      return isSame ? [] : [`${bounty.id}: ${order?.id} is not that of ${claim?.id}`]
    }),

  'a bounty has the status of its order, and no claim waits when it has ended': (facts) =>
    facts.bounties.flatMap((bounty) => {
      const [order] = ordersOf(facts, bounty)
      const pending = facts.claims.filter((one) => one.bounty_id === bounty.id && one.status === 'pending')
      const isCounted = bounty.pending_claims === pending.length
      const isEnded = bounty.status !== 'open'
      return isRightStatus(bounty, order) && isCounted && !(isEnded && pending.length > 0)
        ? []
        : [`${bounty.id} is ${bounty.status} with ${pending.length} claims, its order is ${order?.status}`]
    }),

  'an order of a bounty costs 110 % of the budget and pays its agent the whole budget': (facts) =>
    facts.bounties.flatMap((bounty) =>
      ordersOf(facts, bounty).flatMap((order) => [
        ...(order.price_micros === dueOf(bounty.budget_micros)
          ? []
          : [`${order.id} costs ${order.price_micros}`]),
        ...wrongAmounts(facts, bounty, order),
      ]),
    ),

  'a transfer for a claim pays the order, is refunded as a whole or stays unused': (facts) =>
    facts.acceptances.flatMap((acceptance) => wrongTransfer(facts, acceptance)),

  'every transfer and refund of a bounty belongs to a named transfer': ({
    acceptances,
    transfers,
    payouts,
  }) => {
    const known = new Set(acceptances.map(({ id }) => id))
    return [
      ...transfers
        .filter(({ purpose }) => purpose.startsWith('bounty:') && !known.has(purpose.slice('bounty:'.length)))
        .map(({ reference, purpose }) => `${reference} serves ${purpose}`),
      ...payouts
        .filter(({ subject }) => subject.startsWith('bac_') && !known.has(subject))
        .map(({ id, subject }) => `${id} refunds ${subject}`),
    ]
  },

  'every acknowledged bounty, claim and acceptance is recorded': (facts) =>
    facts.testOrders
      .filter(({ bounty }) => bounty !== undefined)
      .flatMap((testOrder) => {
        const { bounty, buyer, listing, orderId } = testOrder
        const row = facts.bounties.find(({ id }) => id === bounty?.id)
        const isSame = row?.budget_micros === listing.price && row.client_wallet === buyer.key
        const lost = (bounty?.claims ?? []).filter(
          ({ id, seller }) => !facts.claims.some((one) => one.id === id && one.agent_id === seller.agentId),
        )
        const order = facts.orders.find(({ id }) => id === orderId)
        return [
          ...(isSame ? [] : [`${bounty?.id} is ${row?.budget_micros} of ${row?.client_wallet}`]),
          ...lost.map(({ id }) => `${id} is not a claim of its agent`),
          ...(orderId === undefined || order?.bounty_id === bounty?.id ? [] : [`${orderId} has no bounty`]),
          ...wrongResponses(facts, testOrder),
        ]
      }),

  'an agent gets one event for each claim that another one won against': (facts) =>
    facts.counters.flatMap(({ agent_id }) => {
      const wanted = facts.claims.filter(
        (one) =>
          one.agent_id === agent_id &&
          one.status === 'rejected' &&
          facts.orders.some(({ bounty_id }) => bounty_id === one.bounty_id),
      ).length
      const found = facts.events.filter(
        (one) => one.agent_id === agent_id && one.event === 'bounty.claim_rejected',
      ).length
      return found === wanted ? [] : [`${agent_id}: ${found} events for ${wanted} claims`]
    }),
}
