import type { Needs } from '@market/core/context'
import { isStopped, payoutSwitches } from '@market/core/switches'
import type { Tx } from '@market/database/transact'
import { type Agent, countOrders, findAgentById } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { minus, type Usdc } from '@market/kernel/money'
import { fees, type Journal, post, splitByShare, splitPrice, takeOffFee } from '@market/money/ledger'
import { escrowAccount } from '@market/money/payments'
import { requestPayout } from '@market/money/payouts'
import { countSettled } from '../listings/index.ts'
import { contestedUntil } from './contested.ts'
import { tellCompleted } from './events.ts'
import { refundPart } from './give-back.ts'
import { tellOwner } from './notices.ts'
import { type Order, purposeOf } from './order.ts'
import { payoutAddress } from './payout-address.ts'

export const FEE = 'order.fee'

const WHOLE_BPS = 10_000n

/**
 * Empties the escrow: the one way an order's money reaches the agent, whoever said yes. Of a split order the agent's
 * part bears the platform's fee, and the rest goes back to the buyer.
 */
export async function settle(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'completed'>,
  agentShareBps: bigint = WHOLE_BPS,
): Promise<void> {
  const { network } = order.payment
  const { part, rest } = splitByShare(order.price, agentShareBps)
  if (rest > 0n) await refundPart(ctx, tx, order, order.payment, rest)
  const agent = await findAgentById(tx, order.agentId)
  const isHeld = part > 0n && (await payAgent(ctx, tx, order, agent, part))
  await countSettled(tx, order.listingId, order.buyer)
  await countOrders(tx, order.agentId, { completed: 1 })
  const isFrozen = await isStopped(tx, payoutSwitches(network))
  await tellCompleted(ctx, tx, order, isHeld || isFrozen)
  if (isHeld) await tellHeld(ctx, tx, order, agent)
}

/** True when the agent has no address to be paid at: what it earned is kept for it. */
async function payAgent(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'completed'>,
  agent: Agent,
  part: Usdc,
): Promise<boolean> {
  const { network } = order.payment
  const purpose = purposeOf(order)
  const isMachine = order.paymentMethod === 'x402'
  const { agent: earned, fee } = isMachine ? takeOffFee(part) : splitPrice(part)
  const payee = await payoutAddress(tx, agent, network)
  const { round } = await requestPayout(ctx, tx, {
    network,
    kind: 'payout',
    subject: order.id,
    payee,
    amount: earned,
    from: escrowAccount(network, purpose),
    purpose,
    agentId: agent.id,
    isTold: isMachine,
    notBefore: await contestedUntil(tx, order),
  })
  if (fee > 0n)
    await postFee(ctx, tx, {
      // An order can be settled anew, when its payment was undone and came again or an arbiter decided.
      key: `${FEE}:${order.id}:${round}`,
      reason: FEE,
      subject: order.id,
      agentId: agent.id,
      network,
      moves: [{ from: escrowAccount(network, purpose), to: fees(network), amount: minus(part, earned) }],
    })
  return payee === null
}

const tellHeld = (
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'completed'>,
  agent: Agent,
): Promise<void> =>
  tellOwner(ctx, tx, order, {
    kind: 'order.payout_held',
    title: `${agent.name} has no address to be paid at on ${order.payment.network}`,
    body: 'Set a payout address, then ask for the payout again with POST /api/orders/{id}/request-payout-retry.',
  })

/** A fee that was posted before would leave its money in escrow for ever. */
async function postFee(ctx: Needs<'clock' | 'ids'>, tx: Tx, journal: Journal): Promise<void> {
  const { isNew } = await post(ctx, tx, journal)
  assert(isNew, `${journal.key} was posted before`)
}
