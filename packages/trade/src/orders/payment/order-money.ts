import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { isStopped, payoutSwitches } from '@market/core/switches'
import type { Tx } from '@market/database/transact'
import { countOrders, findAgentById, payoutAddress, payoutAddressHint } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, fees, post, statementOf, surplus } from '@market/money/ledger'
import { type ClaimedTransfer, escrowAccount, findTransferFor, transferName } from '@market/money/payments'
import { requestPayout, returnSurplus, withdrawPayout } from '@market/money/payouts'
import { countSettled, uncountSettled } from '@market/offers/listings'
import { hasOtherCompleted } from '../count-orders.ts'
import { emitOrderCompleted } from '../events.ts'
import { notifyAgentOwner } from '../notifications.ts'
import { type Core, type Order, type Payment, payoutWait, purposeOf } from '../order.ts'
import { policyOf } from '../policy.ts'
import { emitPayoutFailed } from './payout-events.ts'

type Ctx = Needs<'clock' | 'ids'>

const FEE = 'order.fee'
/** More than an order ever has. */
const MAX_JOURNALS = 200

/**
 * Empties the escrow of a completed order: the agent's share without the fee to the agent, the rest to the buyer. No
 * other function pays the agent.
 */
export async function distributeEscrow(ctx: Ctx, tx: Tx, order: Order<'completed'>): Promise<void> {
  const { network } = order.payment
  const { part, rest } = partsOf(order, order.price)
  if (rest > 0n) await refundAmount(ctx, tx, order, order.payment, rest)
  const agent = await findAgentById(tx, order.agentId)
  const payee = await payoutAddress(ctx, tx, agent, network)
  if (part > 0n) await payAgent(ctx, tx, order, payee, part)
  if (order.listingId !== null) await countSettled(tx, order.listingId, order.buyer)
  await countOrders(tx, order.agentId, { completed: 1 })
  const hasNoAddress = part > 0n && payee === null
  const isFrozen = await isStopped(tx, payoutSwitches(network))
  await emitOrderCompleted(ctx, tx, order, hasNoAddress || isFrozen)
  if (hasNoAddress)
    await notifyAgentOwner(ctx, tx, order, {
      kind: 'order.payout_failed',
      title: `${agent.name} has no payout address on ${network}`,
      body: `${payoutAddressHint(network)} Then call POST /api/orders/{id}/request-payout-retry.`,
    })
}

/** The decision is read from the order, and never repeated by a caller. */
export function partsOf({ id, agentPart }: Core, due: Usdc): { part: Usdc; rest: Usdc } {
  assert(agentPart !== null, `${id} was decided`)
  // A forged row gives the agent no more than what was paid.
  // fix: stored-verdict
  const part = agentPart < due ? agentPart : due
  return { part, rest: minus(due, part) }
}

/** Without a payout address the payout fails with `no_address`; the agent retries it after setting one. */
async function payAgent(
  ctx: Ctx,
  tx: Tx,
  order: Order<'completed'>,
  payee: string | null,
  part: Usdc,
): Promise<void> {
  const { network } = order.payment
  const { agentId } = order
  const purpose = purposeOf(order)
  const policy = policyOf(order)
  const { agent: earned, fee } = policy.splitFee(part)
  const from = escrowAccount(network, purpose)
  const payout = await requestPayout(ctx, tx, {
    network,
    kind: 'payout',
    subject: order.id,
    payee,
    amount: earned,
    from,
    purpose,
    agentId,
    notifyAgent: policy.emitsPayout,
    notBefore: payoutWait(order),
    contestedAt: order.contest?.at,
  })
  if (payout.state === 'failed') await emitPayoutFailed(ctx, tx, payout)
  if (fee === 0n) return
  // An order is paid out again after a reorganisation or an arbiter's decision, so the key has the round.
  const key = `${FEE}:${order.id}:${payout.round}`
  const moves = [{ from, to: fees(network), amount: minus(part, earned) }]
  const { isNew } = await post(ctx, tx, { key, reason: FEE, subject: order.id, agentId, network, moves })
  assert(isNew, `${key} was posted before`)
}

/** Refunds the whole payment of a cancelled order to the wallet that paid. An unpaid order needs no refund. */
export async function refundBuyer(ctx: Ctx, tx: Tx, order: Order<'cancelled'>): Promise<void> {
  if (order.payment === undefined || order.price === undefined) return
  await refundAmount(ctx, tx, order, order.payment, order.price)
}

export async function refundAmount(
  ctx: Ctx,
  tx: Tx,
  order: Pick<Core, 'id'>,
  { network }: Payment,
  amount: Usdc,
): Promise<void> {
  const purpose = purposeOf(order)
  const transfer = await findTransferFor(tx, purpose)
  assert(transfer !== undefined && transfer.payer !== null, `${order.id} was paid by a wallet`)
  await requestPayout(ctx, tx, {
    network,
    kind: 'refund',
    subject: order.id,
    payee: transfer.payer,
    amount,
    from: escrowAccount(network, purpose),
    purpose,
  })
}

/** With the network: after a reorganisation an order can be paid again on another one. */
export const surplusSubject = ({ id }: Pick<Core, 'id'>, network: Network): string =>
  `${id}:surplus:${network}`

/** Refunds what a transfer has above the price. */
export function refundSurplus(
  ctx: Ctx & Needs<'chains'>,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  network: Network,
  transfer: IncomingTransfer,
): Promise<void> {
  const subject = surplusSubject(order, network)
  return returnSurplus(ctx, tx, { network, subject, purpose: purposeOf(order), due: order.price }, transfer)
}

/** Withdraws every payout of an order whose payment was reversed. Payouts wait for finality, so none was sent. */
export async function withdrawOrderPayouts(
  ctx: Ctx,
  tx: Tx,
  order: Order,
  transfer: ClaimedTransfer<'order'>,
): Promise<void> {
  await restoreEscrow(ctx, tx, order, transfer)
  const { network } = transfer
  await withdrawPayout(ctx, tx, {
    kind: 'surplus',
    subject: surplusSubject(order, network),
    to: surplus(network, transferName(transfer)),
  })
}

/** Moves what was set aside for the payout, the fee and the refund back to the order's escrow account. */
export async function restoreEscrow(
  ctx: Ctx,
  tx: Tx,
  order: Order,
  { network, purpose }: ClaimedTransfer,
): Promise<void> {
  const escrow = escrowAccount(network, purpose)
  if (order.status === 'completed') {
    await reverseFee(ctx, tx, order, escrow)
    const { listingId, buyer } = order
    if (listingId !== null)
      await uncountSettled(tx, { listingId, buyer }, () => hasOtherCompleted(tx, listingId, order))
    await countOrders(tx, order.agentId, { completed: -1 })
  }
  for (const kind of ['payout', 'refund'] as const)
    await withdrawPayout(ctx, tx, { kind, subject: order.id, to: escrow })
}

const reversalKey = (key: string): string => `order.fee_undone:${key}`

/** The amount is read from the ledger, because the fee of a split order is smaller. */
async function reverseFee(ctx: Ctx, tx: Tx, order: Order<'completed'>, escrow: Account): Promise<void> {
  const { journals } = await statementOf(tx, { subject: order.id }, { limit: MAX_JOURNALS })
  const keys = new Set(journals.map(({ key }) => key))
  const posted = journals.find(({ reason, key }) => reason === FEE && !keys.has(reversalKey(key)))
  const fee = posted?.legs.find(({ account }) => account.kind === 'fees')
  if (posted === undefined || fee === undefined) return
  const { network } = order.payment
  await post(ctx, tx, {
    key: reversalKey(posted.key),
    reason: 'order.fee_undone',
    subject: order.id,
    agentId: order.agentId,
    network,
    moves: [{ from: fees(network), to: escrow, amount: usdc(fee.micros) }],
  })
}
