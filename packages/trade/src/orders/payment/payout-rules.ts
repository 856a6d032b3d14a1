import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAgentById, paidAddresses } from '@market/identity/agents'
import { minus, type Usdc, ZERO } from '@market/kernel/money'
import { findTransferFor, type Purpose, type Transfer } from '@market/money/payments'
import {
  type Payout,
  type PayoutRule,
  type PayoutTerms,
  redirectedPayees,
  sumMovedToVenue,
  unmatchedTerms,
} from '@market/money/payouts'
import { type Order, payoutWait } from '../order.ts'
import { policyOf } from '../policy.ts'
import { findOrderIfAny } from '../store.ts'
import { partsOf, surplusSubject } from './order-money.ts'
import { emitPayoutFailed, emitPayoutSent, emitRefunded, lockRefundEvent } from './payout-events.ts'

/** What an agent earned with an order. */
export const orderPayout: PayoutRule = {
  capped: 'always',
  terms: orderTerms,
  onSent: emitPayoutSent,
  onFailed: emitPayoutFailed,
}

/** What of a payment goes back: the rest of an order; a registration or a bounty as a whole. */
export const refund: PayoutRule = {
  capped: 'unless_returned',
  terms: refundTerms,
  beforeSent: lockRefundEvent,
  onSent: emitRefunded,
}

/** What was paid above the price, and what no purchase claimed. */
export const surplus: PayoutRule = {
  capped: 'unless_returned',
  terms: async (_ctx, tx, payout) =>
    payout.unmatched === null ? surplusTerms(tx, payout) : unmatchedTerms(tx, payout, payout.unmatched),
}

async function orderTerms(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<PayoutTerms | undefined> {
  const paid = await findPaid(tx, payout)
  if (paid === undefined || paid.purpose.kind !== 'order' || payout.subject !== paid.purpose.id)
    return undefined
  const { network } = paid.transfer
  const order = await findOrderIfAny(tx, paid.purpose.id)
  if (order === undefined) return undefined
  const amount = policyOf(order).splitFee(sharesOf(order, paid.transfer).part).agent
  const agent = await findAgentById(tx, order.agentId)
  const { payees: known, waiting } = await paidAddresses(ctx, tx, agent, network)
  const payees = [...(await redirectedPayees(tx, payout)), ...known]
  return { network, amount, payees, newPayees: waiting, wait: waitOf(order) }
}

async function refundTerms(_ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<PayoutTerms | undefined> {
  const paid = await findPaid(tx, payout)
  if (paid === undefined || payout.subject !== paid.purpose.id) return undefined
  const { purpose, transfer } = paid
  const order = purpose.kind === 'order' ? await findOrderIfAny(tx, purpose.id) : undefined
  if (purpose.kind === 'order' && order === undefined) return undefined
  const amount = order === undefined ? await restOf(tx, paid) : sharesOf(order, transfer).rest
  return { network: transfer.network, amount, payees: await payersOf(tx, payout, transfer) }
}

/** All of it, or what of a deposit into Earn did not go to its venue. */
const restOf = async (tx: Tx, { purpose, transfer }: Paid): Promise<Usdc> =>
  purpose.kind === 'earn_deposit' ? minus(transfer.due, await sumMovedToVenue(tx, transfer)) : transfer.due

async function surplusTerms(tx: Tx, payout: Payout): Promise<PayoutTerms | undefined> {
  const paid = await findPaid(tx, payout)
  if (paid === undefined) return undefined
  const { purpose, transfer } = paid
  const { network, amount, due } = transfer
  const subject = purpose.kind === 'order' ? surplusSubject(purpose, network) : purpose.id
  if (payout.subject !== subject) return undefined
  return { network, amount: minus(amount, due), payees: await payersOf(tx, payout, transfer) }
}

interface Paid {
  readonly purpose: Purpose
  readonly transfer: Transfer
}

/** The payment behind a payout. */
async function findPaid(tx: Tx, { purpose }: Payout): Promise<Paid | undefined> {
  const transfer = purpose === null ? undefined : await findTransferFor(tx, purpose)
  return purpose === null || transfer === undefined ? undefined : { purpose, transfer }
}

/** Who paid, and where two operators sent it. */
const payersOf = async (tx: Tx, payout: Payout, { payer }: Transfer): Promise<string[]> => {
  const redirected = await redirectedPayees(tx, payout)
  return payer === null ? redirected : [payer, ...redirected]
}

/** The order says how long its payout waits, whatever the row of the payout says. */
const waitOf = (order: Order) => ({
  notBefore: order.status === 'completed' ? (payoutWait(order) ?? null) : null,
  contestedAt: order.contest?.at ?? null,
})

/** Nothing is due before somebody has decided. The transfer's due amount is what the order holds in escrow. */
function sharesOf(order: Order, { due }: Transfer): { part: Usdc; rest: Usdc } {
  if (order.status !== 'completed' && order.status !== 'cancelled') return { part: ZERO, rest: ZERO }
  return partsOf(order, due)
}
