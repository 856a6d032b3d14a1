import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAgentById, paidAddresses } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { minus, type Usdc, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findTransferFor, type Purpose, type Transfer } from '@market/money/payments'
import { type Payout, type PayoutListener, type PayoutTerms, redirectedPayees } from '@market/money/payouts'
import { type Order, payoutWait } from '../order.ts'
import { policyOf } from '../policy.ts'
import { findOrder } from '../store.ts'
import { partsOf, surplusSubject } from './order-money.ts'
import { emitPayoutFailed, emitPayoutSent, lockRefundEvent } from './payout-events.ts'

/**
 * What a payout must be, from the order and the transfer that paid for it. Of the payout's row only the kind, the subject
 * and the purpose are used, to find them. Undefined when it belongs to neither an order, a registration nor a bounty.
 */
async function payoutTerms(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<PayoutTerms | undefined> {
  const purpose = purposeOfPayout(payout)
  if (purpose === undefined) return undefined
  const transfer = await findTransferFor(tx, purpose)
  const none = { network: payout.network, amount: ZERO, payees: [] }
  if (transfer === undefined) return none
  const { network, payer } = transfer
  const redirected = await redirectedPayees(tx, payout)
  const payees = payer === null ? redirected : [payer, ...redirected]
  if (payout.kind === 'surplus')
    return isSurplusOf(payout, purpose, network) ? { network, amount: surplusOf(transfer), payees } : none
  if (payout.subject !== purpose.id) return none
  if (purpose.kind !== 'order')
    return { network, amount: payout.kind === 'refund' ? transfer.due : ZERO, payees }
  const order = await findOrder(tx, purpose.id)
  const { part, rest } = sharesOf(order, transfer)
  if (payout.kind === 'refund') return { network, amount: rest, payees }
  const amount = policyOf(order).splitFee(part).agent
  const agent = await findAgentById(tx, order.agentId)
  const { payees: known, waiting } = await paidAddresses(ctx, tx, agent, network)
  return { network, amount, payees: [...redirected, ...known], newPayees: waiting, wait: waitOf(order) }
}

/** The order says how long its payout waits, whatever the row of the payout says. */
const waitOf = (order: Order) => ({
  notBefore: order.status === 'completed' ? (payoutWait(order) ?? null) : null,
  contestedAt: order.contest?.at ?? null,
})

const ORDER = /^ord_\d+_[0-9a-z]{17}/

/** A row that names an order only in its subject belongs to that order as well. */
function purposeOfPayout({ purpose, subject }: Payout): Purpose | undefined {
  const id = ORDER.exec(purpose?.id ?? subject)?.[0]
  if (id !== undefined) return { kind: 'order', id: id as OrderId }
  return purpose === null || purpose.kind === 'order' ? undefined : purpose
}

const isSurplusOf = ({ subject }: Payout, purpose: Purpose, network: Network): boolean =>
  subject === (purpose.kind === 'order' ? surplusSubject(purpose, network) : purpose.id)

const surplusOf = ({ amount, due }: Transfer): Usdc => minus(amount, due)

/** Nothing is due before somebody has decided. The transfer's due amount is what the order holds in escrow. */
function sharesOf(order: Order, { due }: Transfer): { part: Usdc; rest: Usdc } {
  if (order.status !== 'completed' && order.status !== 'cancelled') return { part: ZERO, rest: ZERO }
  return partsOf(order, due)
}

/** Registered by the worker: says what a payout must be, and emits the order events when it ends. */
export const orderPayoutListener: PayoutListener = {
  termsOf: payoutTerms,
  beforeSent: lockRefundEvent,
  onSent: emitPayoutSent,
  onFailed: emitPayoutFailed,
}
