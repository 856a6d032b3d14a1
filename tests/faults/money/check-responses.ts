import { BOUNTY_ACTIONS } from './bounty.ts'
import { EARN_ACTIONS } from './earn.ts'
import type { Checks, Facts } from './facts.ts'
import { dueOf } from './purchase.ts'
import { PROVIDER_KEY } from './relay.ts'
import { type Acknowledged, briefOf, type TestOrder } from './test-order.ts'

const isYes = ({ status }: Acknowledged): boolean => status >= 200 && status < 300

const NOT_A_STEP: readonly string[] = ['create', 'pay', 'purchase', ...BOUNTY_ACTIONS, ...EARN_ACTIONS]

/** Every "yes" but that of a payment or of a bounty is one step; how a payment ended is asked of its transfer. */
function missing({ stepsOf }: Facts, { orderId = '', acknowledged }: TestOrder): string[] {
  const yes = acknowledged.filter((one) => isYes(one) && !NOT_A_STEP.includes(one.action))
  return [...Map.groupBy(yes, ({ action }) => action)].flatMap(([action, some]) => {
    const said = new Set(some.map(({ key }) => key)).size
    const done = stepsOf(orderId).filter((step) => step.action === action).length
    return said <= done ? [] : [`${orderId}: ${said} times yes to ${action}, done ${done} times`]
  })
}

/** A payment that was accepted may be undone by the chain alone, also when the order is closed, which has no step then. */
function unpaid({ stepsOf, transfers }: Facts, { orderId = '', acknowledged }: TestOrder): string[] {
  const accepted = acknowledged.filter(({ action, said }) => action === 'pay' && said === 'paid')
  const isUndone = stepsOf(orderId).some(({ action }) => action === 'undo')
  return accepted.flatMap(({ reference }) => {
    const transfer = transfers.find((one) => one.reference === reference)
    const isSo = isUndone || transfer?.state === 'gone' || transfer?.purpose === `order:${orderId}`
    return isSo ? [] : [`${orderId} was told to be paid by ${reference}, which serves ${transfer?.purpose}`]
  })
}

export const RESPONSE_CHECKS: Checks = {
  'every acknowledged order exists': ({ testOrders, orders }) =>
    testOrders
      .filter(({ orderId }) => orderId !== undefined)
      .filter((testOrder) => {
        const order = orders.find(({ id }) => id === testOrder.orderId)
        const { price } = testOrder.listing
        const wanted = testOrder.paidBy === undefined ? price : dueOf(price)
        return order?.brief !== briefOf(testOrder) || order.price_micros !== wanted
      })
      .map(({ key }) => key),

  'an Idempotency-Key creates one order': ({ orders }) =>
    [...Map.groupBy(orders, ({ brief }) => brief)]
      .filter(([, some]) => some.length > 1)
      .map(([brief, some]) => `${brief}: ${some.length}`),

  'every acknowledged action is recorded': (facts) =>
    facts.testOrders.flatMap((testOrder) => [...missing(facts, testOrder), ...unpaid(facts, testOrder)]),

  'every delivered webhook was accepted by its endpoint': ({ deliveries, accepted }) =>
    deliveries.filter(({ id, status }) => status === 'delivered' && !accepted.has(id)).map(({ id }) => id),

  'every event was delivered or dropped': ({ deliveries, events }) => {
    const made = new Map(deliveries.map((one) => [`${one.agent_id} ${one.seq}`, one.status]))
    return events
      .map(({ agent_id, seq }) => `${agent_id} ${seq}`)
      .filter((name) => (made.get(name) ?? 'pending') === 'pending')
  },

  'every network is reported as solvent': ({ solvency, networks }) =>
    networks.filter((network) => solvency.find((one) => one.network === network)?.solvent !== true),

  'no process logs a secret': ({ output, secrets, testOrders }) => {
    const keys = new Set(testOrders.map(({ seller }) => seller.apiKey))
    return [...secrets, PROVIDER_KEY, ...keys]
      .filter((secret) => output.includes(secret))
      .map((secret) => `${secret.slice(0, 6)}…`)
  },
}
