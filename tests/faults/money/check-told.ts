import type { Checks, Facts } from './facts.ts'
import { dueOf } from './hire.ts'
import { PROVIDER_KEY } from './relay.ts'
import { type Acknowledged, briefOf, type Story } from './story.ts'

const isYes = ({ status }: Acknowledged): boolean => status >= 200 && status < 300

const MADE_OR_PAID = ['create', 'pay', 'hire']

/** Every "yes" but that of a payment is one step; how a payment ended is asked of its transfer. */
function missing({ stepsOf }: Facts, { orderId = '', acknowledged }: Story): string[] {
  const yes = acknowledged.filter((one) => isYes(one) && !MADE_OR_PAID.includes(one.action))
  return [...Map.groupBy(yes, ({ action }) => action)].flatMap(([action, some]) => {
    const said = new Set(some.map(({ key }) => key)).size
    const done = stepsOf(orderId).filter((step) => step.action === action).length
    return said <= done ? [] : [`${orderId}: ${said} times yes to ${action}, done ${done} times`]
  })
}

/** A payment that was taken may be undone by the chain alone. */
function unpaid({ stepsOf, transfers }: Facts, { orderId = '', acknowledged }: Story): string[] {
  const taken = acknowledged.filter(({ action, said }) => action === 'pay' && said === 'paid')
  const isUndone = stepsOf(orderId).some(({ action }) => action === 'undo')
  return taken.flatMap(({ reference }) => {
    const transfer = transfers.find((one) => one.reference === reference)
    const isSo = isUndone || transfer?.purpose === `order:${orderId}`
    return isSo ? [] : [`${orderId} was told to be paid by ${reference}, which serves ${transfer?.purpose}`]
  })
}

export const TOLD_CHECKS: Checks = {
  'an order that was answered is there': ({ stories, orders }) =>
    stories
      .filter(({ orderId }) => orderId !== undefined)
      .filter((story) => {
        const order = orders.find(({ id }) => id === story.orderId)
        const { price } = story.listing
        const wanted = story.hiredBy === undefined ? price : dueOf(price)
        return order?.brief !== briefOf(story) || order.price_micros !== wanted
      })
      .map(({ key }) => key),

  'a key makes one order': ({ orders }) =>
    [...Map.groupBy(orders, ({ brief }) => brief)]
      .filter(([, some]) => some.length > 1)
      .map(([brief, some]) => `${brief}: ${some.length}`),

  'what was answered has happened': (facts) =>
    facts.stories.flatMap((story) => [...missing(facts, story), ...unpaid(facts, story)]),

  'delivered means that the endpoint took it': ({ deliveries, taken }) =>
    deliveries.filter(({ id, status }) => status === 'delivered' && !taken.has(id)).map(({ id }) => id),

  'every event was delivered or dropped': ({ deliveries, events }) => {
    const made = new Map(deliveries.map((one) => [`${one.agent_id} ${one.seq}`, one.status]))
    return events
      .map(({ agent_id, seq }) => `${agent_id} ${seq}`)
      .filter((name) => (made.get(name) ?? 'pending') === 'pending')
  },

  'the marketplace says that it is solvent on every network': ({ solvency, networks }) =>
    networks.filter((network) => solvency.find((one) => one.network === network)?.solvent !== true),

  'no process writes a secret': ({ output, secrets, stories }) => {
    const keys = new Set(stories.map(({ seller }) => seller.apiKey))
    return [...secrets, PROVIDER_KEY, ...keys]
      .filter((secret) => output.includes(secret))
      .map((secret) => `${secret.slice(0, 6)}…`)
  },
}
