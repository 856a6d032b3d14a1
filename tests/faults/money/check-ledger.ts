import type { Checks, Facts, OrderRow } from './facts.ts'

/** In these states an order's money waits in escrow. */
const WAITING = new Set(['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed'])
/** Of payouts in these states nothing is set aside any more. */
const OVER = new Set(['final', 'withdrawn'])

/**
 * Written out here and not taken from the product: a tenth, rounded down; of an order that came with its payment, where it
 * is on top, what is left when the price is taken off.
 */
export const feeOf = (part: bigint, { payment_method }: Pick<OrderRow, 'payment_method'>): bigint =>
  payment_method !== null ? part - (part * 10n) / 11n : part / 10n

/** Less than this is owed and waits: sending it costs more than it is worth. */
const WORTH_SENDING = 100_000n

const differs = (what: string, found: bigint, wanted: bigint): string[] =>
  found === wanted ? [] : [`${what}: ${found} instead of ${wanted}`]

/** What the agent's part of a completed order is, before the fee; a split one's follows from what went back. */
export const partOf = (facts: Facts, order: OrderRow): bigint => {
  const price = order.price_micros ?? 0n
  return order.outcome === 'split' ? price - (facts.payoutOf('refund', order.id)?.amount_micros ?? 0n) : price
}

const surplusSubject = (purpose: string, network: string): string =>
  purpose.startsWith('earn_deposit:')
    ? purpose.slice('earn_deposit:'.length)
    : `${purpose.replace('order:', '')}:surplus:${network}`

export const LEDGER_CHECKS: Checks = {
  'every journal sums to zero': ({ unbalanced }) => unbalanced.map(({ id, sum }) => `${id}: ${sum}`),

  'every balance is the sum of its moves': ({ drifted }) => drifted.map(({ id }) => id),

  'every counter of payouts is the sum over them': ({ counterDrift }) => counterDrift,

  'no account is overdrawn': ({ accounts }) =>
    accounts
      .filter(({ kind, balance_micros }) => kind !== 'world' && kind !== 'venue' && balance_micros < 0n)
      .map(({ id }) => id),

  'what treasury and venues hold is the sum of liabilities and fees': ({ networks, holds }) =>
    networks.flatMap((network) => {
      const kinds = ['escrow', 'payable', 'surplus', 'suspense', 'fees', 'withdrawal']
      const parts = kinds.reduce((sum, kind) => sum + holds(kind, network), 0n)
      return differs(network, parts, -holds('world', network) - holds('venue', network))
    }),

  'escrow matches the state of its order': (facts) =>
    facts.orders.flatMap((order) =>
      facts.networks.flatMap((network) => {
        const isHere = WAITING.has(order.status) && order.payment_network === network
        const wanted = isHere ? (order.price_micros ?? 0n) : 0n
        return differs(
          `${order.id} (${order.status}) on ${network}`,
          facts.holds('escrow', network, `order:${order.id}`),
          wanted,
        )
      }),
    ),

  'every escrow balance belongs to an order or to a deposit that is held': ({ accounts, orders, earn }) => {
    const held = earn.deposits.filter(({ status }) => status === 'held')
    const known = new Set([
      ...orders.map(({ id }) => `order:${id}`),
      ...held.map(({ id }) => `earn_deposit:${id}`),
    ])
    return accounts
      .filter((one) => one.kind === 'escrow' && one.balance_micros !== 0n && !known.has(one.subject))
      .map(({ id }) => id)
  },

  'the payable balance is the amount of unfinished payouts': ({ payouts, holds }) =>
    payouts.flatMap(({ id, network, state, amount_micros }) =>
      differs(`${id} (${state})`, holds('payable', network, id), OVER.has(state) ? 0n : amount_micros),
    ),

  'fees are 10 % of the agents’ earnings': (facts) =>
    facts.networks.flatMap((network) => {
      const completed = facts.orders.filter(
        (order) => order.status === 'completed' && order.payment_network === network,
      )
      const wanted = completed.reduce((sum, order) => sum + feeOf(partOf(facts, order), order), 0n)
      return differs(network, facts.holds('fees', network), wanted)
    }),

  'surplus is refunded or owed, and unclaimed transfers are in suspense': (facts) =>
    facts.transfers.flatMap((transfer) => {
      const { network, reference, purpose, state, amount_micros, due_micros } = transfer
      const isLive = state !== 'gone'
      const tooMuch = isLive && purpose !== '' ? amount_micros - due_micros : 0n
      // What comes from the venue belongs to a pool.
      const isOwn = facts.earn.ownPayers.includes(transfer.payer ?? '')
      const unclaimed = isLive && purpose === '' && !isOwn ? amount_micros : 0n
      const returned = facts.payoutOf('surplus', surplusSubject(purpose, network))
      const back = isLive ? (returned?.amount_micros ?? 0n) : 0n
      return [
        ...differs(`returned of ${reference}`, back, tooMuch > WORTH_SENDING ? tooMuch : 0n),
        ...differs(`surplus of ${reference}`, facts.holds('surplus', network, reference), tooMuch - back),
        ...differs(`suspense of ${reference}`, facts.holds('suspense', network, reference), unclaimed),
      ]
    }),
}
