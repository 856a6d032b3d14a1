import type { ApprovalRule } from '@market/core/approvals'
import { record } from '@market/core/audit'
import { type Needs, nameOf } from '@market/core/context'
import { lockBuyerEvents } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { rejectOwnCase } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd, usdc } from '@market/kernel/money'
import { splitByShare } from '@market/money/ledger'
import { findTransferFor } from '@market/money/payments'
import { rejectWhileAlive } from '@market/money/payouts'
import { cancel, complete, finish } from './changes.ts'
import { emitOrderCancelled } from './events.ts'
import { notifyBuyer, partyRecipients } from './notifications.ts'
import { decided, isOpenWorkspace, type Order, purposeOf } from './order.ts'
import { distributeEscrow, refundBuyer, restoreEscrow } from './payment/order-money.ts'
import { type Before, BY_CLOCK, illegalTransition, requireTransition } from './states.ts'
import { lockOrder, saveOrder } from './store.ts'

/** What an arbiter can decide. The agent's share of a split is in basis points. */
export type Verdict =
  | { readonly outcome: 'release' }
  | { readonly outcome: 'refund' }
  | { readonly outcome: 'split'; readonly agentShareBps: number }

type Ctx = Needs<'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

/** One operator decides up to this price; above it two operators do. */
// fix: one-operator-limit
const ONE_OPERATOR_UP_TO = usdc(500_000_000n)

/** An operator ends a dispute, or a contest about the payment of a delivered order. The decision is recorded in the audit log with its reason. */
export function resolveDispute(
  ctx: Ctx & Needs<'transact'>,
  orderId: OrderId,
  verdict: Verdict,
  note: string,
): Promise<Order> {
  return ctx.transact(async (tx) => {
    const order = await lockOrder(tx, orderId)
    await rejectOwnCase(tx, ctx.actor, partiesOf(order))
    const ended = decidable(order, ctx.clock.now())
    requireDecidable(ended, actionOf(verdict))
    if (ended.price > ONE_OPERATOR_UP_TO) throw needsTwo(ended)
    const after = await endDispute(ctx, tx, order, verdict, note)
    await record(ctx, tx, effectOf(orderId, verdict, note))
    return after
  })
}

const partiesOf = ({ agentId, buyer, clientWallet }: Order): string[] => [
  `agent:${agentId}`,
  buyer,
  `wallet:${clientWallet}`,
]

const needsTwo = ({ price }: Order<Before<'award'>>): ApiError =>
  new ApiError(
    'conflict',
    `The price is ${formatUsd(price)} USD and one operator decides up to ${formatUsd(ONE_OPERATOR_UP_TO)} USD. Propose \`resolve_dispute\` with POST /api/admin/approvals.`,
    { code: 'approval_required' },
  )

interface Resolution {
  readonly orderId: OrderId
  readonly verdict: Verdict
  readonly note: string
}

/** A dispute about more than one operator decides. The buyer and the agent's owner are notified. */
export const resolveByTwo: ApprovalRule<Ctx, Resolution> = {
  async check(ctx, tx, { orderId, verdict }) {
    const order = decidable(await lockOrder(tx, orderId), ctx.clock.now())
    await rejectOwnCase(tx, ctx.actor, partiesOf(order))
    requireDecidable(order, actionOf(verdict))
    const split = verdict.outcome === 'split' ? ` with ${verdict.agentShareBps / 100} % for the agent` : ''
    return {
      subject: orderId,
      summary: `resolve the dispute about order ${orderId} (${formatUsd(order.price)} USD) by ${verdict.outcome}${split}`,
      recipients: await partyRecipients(tx, order),
    }
  },

  async execute(ctx, tx, { orderId, verdict, note }) {
    await endDispute(ctx, tx, await lockOrder(tx, orderId), verdict, note)
    return effectOf(orderId, verdict, note)
  },
}

const effectOf = (orderId: OrderId, verdict: Verdict, note: string) => ({
  act: `order.${verdict.outcome}`,
  subject: orderId,
  details: { ...verdict, note },
})

/** A contested workspace with completed generations waits for an arbiter, whose decision ends it. */
const decidable = (order: Order, now: Date): Order =>
  isOpenWorkspace(order) && order.contest?.endsAt === null ? finish(order, now) : order

/** An order that is not disputed is decided only while its payment is contested. */
function requireDecidable<A extends 'award' | 'reverse'>(
  order: Order,
  action: A,
): asserts order is Order<Before<A>> {
  requireTransition(order, action)
  if (order.status !== 'disputed' && order.contest === null) throw illegalTransition(order, action)
}

const actionOf = ({ outcome }: Verdict) => (outcome === 'refund' ? 'reverse' : 'award')

async function endDispute(ctx: Ctx, tx: Tx, locked: Order, verdict: Verdict, note: string): Promise<Order> {
  const now = ctx.clock.now()
  const order = decidable(locked, now)
  requireDecidable(order, actionOf(verdict))
  // fix: arbiter-waits
  if (order.contest !== null) await rejectContestWhileAlive(tx, order)
  await lockBuyerEvents(tx, order.buyer)
  if (order !== locked) await saveOrder(tx, locked, order, { ...BY_CLOCK, action: 'finish', at: now })
  if (order.status === 'completed') await reopenContested(ctx, tx, order)
  const step = { role: 'arbiter', actor: nameOf(ctx.actor), at: now } as const
  const ended = async (): Promise<Order> => {
    if (verdict.outcome === 'refund') {
      const cancelled = await saveOrder(tx, order, cancel(order, now), { ...step, action: 'reverse' })
      await refundBuyer(ctx, tx, cancelled)
      await emitOrderCancelled(ctx, tx, cancelled, order.status)
      return cancelled
    }
    const part =
      verdict.outcome === 'split'
        ? splitByShare(order.price, BigInt(verdict.agentShareBps)).part
        : order.price
    const completed = await saveOrder(tx, order, decided(complete(order, now, part)), {
      ...step,
      action: 'award',
    })
    await distributeEscrow(ctx, tx, completed)
    return completed
  }
  const after = await ended()
  await notifyBuyer(ctx, tx, after, {
    kind: 'order.resolved',
    title: `The dispute about “${order.title}” was resolved`,
    body: note,
  })
  return after
}

/** The payment may have been decided to be another caller's, by what the database has lost. */
async function rejectContestWhileAlive(tx: Tx, order: Order): Promise<void> {
  const transfer = await findTransferFor(tx, purposeOf(order))
  if (transfer !== undefined) await rejectWhileAlive(tx, transfer)
}

/** A delivered order whose payment is contested is completed, with its payout held: the money goes back to escrow. */
async function reopenContested(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'completed'>,
): Promise<void> {
  const transfer = await findTransferFor(tx, purposeOf(order))
  assert(transfer !== undefined && transfer.purpose !== null, `${order.id} has its payment`)
  await restoreEscrow(ctx, tx, order, { ...transfer, purpose: transfer.purpose })
}
