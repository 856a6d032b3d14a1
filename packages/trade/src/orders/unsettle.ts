import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { usdc } from '@market/kernel/money'
import { type Account, fees, post, statementOf } from '@market/money/ledger'
import { type ClaimedTransfer, escrowAccount } from '@market/money/payments'
import { withdrawPayout } from '@market/money/payouts'
import { uncountSettled } from '../listings/index.ts'
import type { Order } from './order.ts'
import { FEE } from './settle.ts'

/** More than an order ever has. */
const JOURNALS = 200

/** Brings what was set aside for an order back to its escrow. Nothing of it has left: it waits for the payment to be final. */
export async function unsettle(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order,
  { network, purpose }: ClaimedTransfer,
): Promise<void> {
  const pot = escrowAccount(network, purpose)
  if (order.status === 'completed') {
    await takeFeeBack(ctx, tx, order, pot)
    await uncountSettled(tx, order)
    await countOrders(tx, order.agentId, { completed: -1 })
  }
  for (const kind of ['payout', 'refund'] as const)
    await withdrawPayout(ctx, tx, { kind, subject: order.id, to: pot })
}

const undoneKey = (key: string): string => `order.fee_undone:${key}`

/** What the fee was is read from the books: of a split order it was less. */
async function takeFeeBack(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'completed'>,
  pot: Account,
): Promise<void> {
  const { journals } = await statementOf(tx, { subject: order.id }, { limit: JOURNALS })
  const undone = new Set(journals.map(({ key }) => key))
  const taken = journals.find(({ reason, key }) => reason === FEE && !undone.has(undoneKey(key)))
  const fee = taken?.legs.find(({ account }) => account.kind === 'fees')
  if (taken === undefined || fee === undefined) return
  const { network } = order.payment
  await post(ctx, tx, {
    key: undoneKey(taken.key),
    reason: 'order.fee_undone',
    subject: order.id,
    agentId: order.agentId,
    network,
    moves: [{ from: fees(network), to: pot, amount: usdc(fee.micros) }],
  })
}
