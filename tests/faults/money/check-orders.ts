import { TRANSITIONS } from '@market/trade/orders'
import { feeOf, partOf } from './check-ledger.ts'
import type { Checks, Facts, OrderRow } from './facts.ts'

const INITIAL_STATUS = 'quoted'
const UNPAID = new Set(['pending_quote', 'quoted', 'accepted'])

/** Which event each action of an order tells its agent; the others tell none. */
const EVENT_OF_ACTION: Readonly<Record<string, string>> = {
  pay: 'order.paid',
  revision: 'order.revision_requested',
  dispute: 'order.disputed',
  contest_payment: 'order.disputed',
  approve: 'order.completed',
  release: 'order.completed',
  award: 'order.completed',
  cancel: 'order.cancelled',
  overdue: 'order.cancelled',
  refund: 'order.cancelled',
  reverse: 'order.cancelled',
  return_payment: 'order.cancelled',
}
const EVENTS = ['order.created', 'bounty.accepted', ...new Set(Object.values(EVENT_OF_ACTION))]

const table: Readonly<Record<string, Readonly<Record<string, string>>>> = TRANSITIONS

/** What must leave for an order: to its agent, and back to its buyer. */
function owed(facts: Facts, order: OrderRow): { payout: bigint; refund: bigint } {
  const payment = facts.paymentOf(order.id)
  if (payment === undefined || UNPAID.has(order.status)) return { payout: 0n, refund: 0n }
  if (order.status === 'cancelled') return { payout: 0n, refund: payment.due_micros }
  if (order.status !== 'completed') return { payout: 0n, refund: 0n }
  const part = partOf(facts, order)
  return { payout: part - feeOf(part, order), refund: (order.price_micros ?? 0n) - part }
}

export const ORDER_CHECKS: Checks = {
  'the steps of an order follow the transition table': ({ orders, stepsOf }) =>
    orders.flatMap((order) => {
      let at = INITIAL_STATUS
      const wrong: string[] = []
      for (const { n, action, from_status, to_status } of stepsOf(order.id)) {
        if (from_status !== at || table[from_status]?.[action] !== to_status)
          wrong.push(`${order.id} step ${n}: ${action} from ${from_status} to ${to_status}, being ${at}`)
        at = to_status
      }
      return at === order.status ? wrong : [...wrong, `${order.id} is ${order.status}, its steps say ${at}`]
    }),

  'a paid order has exactly one payment, and an unpaid one none': ({ orders, transfers }) =>
    orders.flatMap((order) => {
      const live = transfers.filter((one) => one.purpose === `order:${order.id}` && one.state !== 'gone')
      const isPaid = !UNPAID.has(order.status) && order.status !== 'cancelled'
      if (live.length > 1) return [`${order.id} was paid by ${live.length} transfers`]
      if (isPaid !== (live.length === 1) && order.status !== 'cancelled')
        return [`${order.id} is ${order.status} and has ${live.length} payments`]
      const [payment] = live
      if (!isPaid || payment === undefined) return []
      const isSame =
        payment.reference === order.payment_reference && payment.network === order.payment_network
      const isEnough = payment.due_micros === order.price_micros
      return isSame && isEnough ? [] : [`${order.id} was paid otherwise than its transfer says`]
    }),

  'one transfer pays one order': ({ orders }) => {
    const paid = orders.filter((order) => order.payment_reference !== null)
    const groups = Map.groupBy(paid, (order) => `${order.payment_network} ${order.payment_reference}`)
    return [...groups].filter(([, some]) => some.length > 1).map(([name]) => name)
  },

  'every order pays its agent or refunds its buyer the expected amounts': (facts) =>
    facts.orders.flatMap((order) => {
      const wanted = owed(facts, order)
      const found = {
        payout: facts.payoutOf('payout', order.id)?.amount_micros ?? 0n,
        refund: facts.payoutOf('refund', order.id)?.amount_micros ?? 0n,
      }
      const isSame = found.payout === wanted.payout && found.refund === wanted.refund
      return isSame
        ? []
        : [
            `${order.id} (${order.status} ${order.outcome}): payout ${found.payout} of ${wanted.payout}, refund ${found.refund} of ${wanted.refund}`,
          ]
    }),

  'payouts go to the agent and refunds to the payer': ({ payouts, testOrders, paymentOf }) =>
    payouts.flatMap((payout) => {
      const id = payout.subject.split(':')[0] ?? ''
      const testOrder = testOrders.find(({ orderId }) => orderId === id)
      if (payout.state === 'withdrawn' || testOrder === undefined) return []
      const { seller } = testOrder
      const wanted =
        payout.kind !== 'payout'
          ? paymentOf(id)?.payer
          : payout.network === 'solana-mainnet'
            ? seller.solanaPayee
            : seller.evmPayee
      return payout.payee?.toLowerCase() === wanted?.toLowerCase()
        ? []
        : [`${payout.id} goes to ${payout.payee} instead of ${wanted}`]
    }),

  'every step with an event has exactly one': ({ orders, stepsOf, eventsOf }) =>
    orders.flatMap((order) => {
      const steps = stepsOf(order.id).map(({ action }) => EVENT_OF_ACTION[action] ?? '')
      // The agent of an order that comes with its payment gets one event for both.
      const first = order.payment_method === 'bounty' ? 'bounty.accepted' : 'order.created'
      const told = [first, ...(order.payment_method === null ? steps : steps.slice(1))]
      return EVENTS.flatMap((event) => {
        const wanted = told.filter((one) => one === event).length
        const found = eventsOf(order.id).filter((one) => one.event === event).length
        return found === wanted ? [] : [`${order.id}: ${found} ${event} for ${wanted} steps`]
      })
    }),

  'a payout of an unproven payer does not leave before its wait is over': ({ orders, payouts }) =>
    orders.flatMap(({ id, payer_proven, payout_waits_until }) => {
      const payout = payouts.find((one) => one.kind === 'payout' && one.subject === id)
      const hasLeft = payout !== undefined && ['signed', 'final'].includes(payout.state)
      if (payer_proven || !hasLeft) return []
      const isEarly = payout_waits_until === null || payout.updated_at < payout_waits_until
      return isEarly ? [`${payout.id} of ${id} left before ${payout_waits_until?.toISOString()}`] : []
    }),

  'every event belongs to an existing order': ({ orders, events }) => {
    const known = new Set(orders.map(({ id }) => id))
    const ofOrders = events.filter(({ event }) => event !== 'bounty.claim_rejected')
    return ofOrders.filter(({ order_id }) => !known.has(order_id)).map(({ order_id }) => order_id)
  },

  'an agent’s events are numbered without a gap, but for a jump to the time after a restart': ({
    events,
    counters,
  }) =>
    counters.flatMap(({ agent_id, last_seq }) => {
      const seqs = events.filter((one) => one.agent_id === agent_id).map(({ seq }) => seq)
      const isGapless = seqs.every((seq, index) => isNext(seqs[index - 1] ?? 0n, seq))
      return isGapless && (seqs.at(-1) ?? 0n) === last_seq
        ? []
        : [`${agent_id}: ${seqs.length} of ${last_seq}`]
    }),
}

/** No run has so many events, and every time in milliseconds is above it. */
const TIMES = 1_000_000_000_000n
/** The server takes longer to start again, so a smaller jump is an event that was lost. */
const RESTART_MS = 100n

/** The first number of a new database epoch is the time in milliseconds. */
const isNext = (before: bigint, seq: bigint): boolean =>
  seq === before + 1n || (seq > TIMES && seq > before + RESTART_MS)
