import type { ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { ORDER_ACTS } from '@market/contract/order-acts'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { requirementOn } from '@market/money/payments'
import {
  isOpenWorkspace,
  type Offered,
  type Order,
  type OrderView,
  type PossibleAct,
  type StoredOrder,
  sharesOf,
  storedOrder,
  type TimelineEntry,
} from '@market/trade/orders'
import { signInstructions } from '@market/trade/x402'
import type { HandlerContext } from './handler.ts'
import { linksOf } from './order-files.ts'
import { openChains, presentWallet } from './present-agent.ts'

type OrderData = ResponseOf<Operations['quoteOrder']>['data']
type Page = ResponseOf<Operations['getOrder']>['data']
type PayableData = ResponseOf<Operations['createOrder']>['data']

const timeOf = (at: Date | null | undefined): string | null => at?.toISOString() ?? null

/** Not shown, or under another name or in another form. */
type Elsewhere =
  | 'buyer'
  | 'clientProvenBy'
  | 'forPrincipal'
  | 'quotaPending'
  | 'listingId'
  | 'title'
  | 'isPrivate'
  | 'price'
  | 'agentPart'
  | 'payment'
  | 'pending'
  | 'contest'
  | 'reviewLeftMs'

type Snake<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''

/** Every other field is shown under its own name, so that a new one does not compile before it is shown or listed. */
type Shown = { readonly [Field in Exclude<keyof StoredOrder, Elsewhere> as Snake<Field>]: unknown }

/** All states have the same fields; a field that the state does not have is null. */
export function presentOrder(order: Order, ctx: HandlerContext): OrderData {
  const facts = storedOrder(order)
  const linkOf = linksOf(ctx, order)
  const shares = sharesOf(order)
  return {
    id: order.id,
    order_id: order.id,
    service_id: order.listingId,
    bounty_id: order.bountyId,
    agent_id: order.agentId,
    service_title: order.title,
    status: order.status,
    brief: order.brief,
    reference_urls: order.referenceUrls.map(linkOf),
    reference_images: order.referenceImages.map(linkOf),
    requirement_answers: { ...order.requirementAnswers },
    client_wallet: presentWallet(ctx, order.clientWallet),
    private: order.isPrivate,
    price_usd: facts.price === null ? null : formatUsd(facts.price),
    agent_usd: shares === undefined ? null : formatUsd(shares.agent),
    fee_usd: shares === undefined ? null : formatUsd(shares.fee),
    price_type: order.priceType,
    price_until: timeOf(facts.priceUntil),
    quote_message: facts.quoteMessage,
    turnaround_hours: order.turnaroundHours,
    quota_total: order.quotaTotal === 0 ? null : order.quotaTotal,
    quota_used: order.quotaTotal === 0 ? null : order.quotaUsed,
    quota_failed: order.quotaTotal === 0 ? null : order.quotaFailed,
    workspace_ends_at: timeOf(order.workspaceEndsAt),
    revision_count: order.revisionCount,
    max_revisions: order.maxRevisions,
    payment_method: order.paymentMethod,
    payment_network: facts.payment?.network ?? facts.pending?.network ?? null,
    escrow_tx_hash: facts.payment?.reference ?? null,
    pending_tx_hash: facts.pending?.reference ?? null,
    payment_error: facts.paymentError,
    payer_proven: order.payerProven,
    payout_waits_until: timeOf(order.payoutWaitsUntil),
    contested_at: timeOf(order.contest?.at),
    contest_ends_at: timeOf(order.contest?.endsAt),
    paid_at: timeOf(facts.paidAt),
    // A workspace has an end instead.
    deliver_by: isOpenWorkspace(order) ? null : timeOf(facts.deliverBy),
    delivered_at: timeOf(facts.deliveredAt),
    review_ends_at: timeOf(facts.reviewEndsAt),
    complaint: facts.complaint,
    closed_at: timeOf(facts.closedAt),
    outcome: facts.outcome,
    created_at: order.createdAt.toISOString(),
    updated_at: order.updatedAt.toISOString(),
  } satisfies OrderData & Shown
}

/** An action with what to call for it, and why it is not possible now. */
export const presentAct = ({
  action,
  until,
  problem,
}: Omit<PossibleAct, 'action'> & {
  readonly action: Page['acts'][number]['action']
}): Page['acts'][number] => ({
  action,
  ...ORDER_ACTS[action],
  until: timeOf(until),
  why_not: problem && { code: problem.code, message: problem.message },
})

const NO_STEP = {
  action: null,
  by: null,
  status: null,
  files: null,
  amount_usd: null,
  network: null,
  tx_hash: null,
  final: null,
} as const

export function presentStep(entry: TimelineEntry): Page['steps'][number] {
  const step = { ...NO_STEP, at: entry.at.toISOString(), kind: entry.kind }
  switch (entry.kind) {
    case 'status':
      return { ...step, action: entry.action, by: entry.by, status: entry.status }
    case 'delivery':
      return { ...step, files: entry.files }
    default: {
      const { money, isFinal } = entry
      if (money === null) return { ...step, final: isFinal }
      const { amount, network, reference } = money
      return { ...step, amount_usd: formatUsd(amount), network, tx_hash: reference, final: isFinal }
    }
  }
}

/** The transfer that an order waits for. */
export const presentAwaited = (awaited: OrderView['awaited']): Page['pending_payment'] =>
  awaited === undefined
    ? null
    : {
        tx: awaited.reference,
        network: awaited.network,
        confirmations: awaited.depth?.confirmations ?? null,
        required: awaited.depth?.required ?? null,
        seen_at: awaited.since.toISOString(),
      }

/** What the payer of an x402 order signs to prove the payment; undefined when nothing is to be proven. */
export function signOf(order: Order, ctx: Pick<HandlerContext, 'signatures' | 'clock' | 'baseUrl'>) {
  const { payment } = storedOrder(order)
  if (order.payerProven || payment === null || order.listingId === null) return undefined
  const wanted = { subject: `service:${order.listingId}`, request: { brief: order.brief } }
  return signInstructions(ctx, wanted, { ...payment, payer: order.clientWallet })
}

/** While a transfer is pending, the order shows no payment options, so that the buyer does not pay twice. */
const isPayable = (order: Order): order is Order<'quoted' | 'accepted'> =>
  order.status === 'quoted' || (order.status === 'accepted' && order.pending === null)

/** Adds the payment options: one per open network on which the agent can be paid. */
export const presentPayableOrder = (order: Order | Offered, ctx: HandlerContext): PayableData => ({
  ...presentOrder(order, ctx),
  payment: isPayable(order)
    ? presentSignable(ctx, 'payableOn' in order ? order.payableOn : [], order.price)
    : [],
})

/** Where to pay the amount: one option per network that is open. */
export const presentPayment = (
  ctx: Pick<HandlerContext, 'chains'>,
  networks: readonly Network[],
  amount: Usdc,
) =>
  openChains(ctx, networks).map((chain) => ({
    network: chain.network,
    asset: { currency: 'USDC' as const, address: chain.usdc },
    pay_to: chain.treasury,
    amount: amount.toString(),
    amount_usd: formatUsd(amount),
  }))

/** The same for what can also be paid with a signed payment, at the same price. */
export const presentSignable = (
  ctx: Pick<HandlerContext, 'chains' | 'facilitators'>,
  networks: readonly Network[],
  amount: Usdc,
) =>
  presentPayment(ctx, networks, amount).map((option) => {
    const [chain, facilitator] = [ctx.chains[option.network], ctx.facilitators[option.network]]
    const isSignable = chain !== undefined && facilitator !== undefined
    return { ...option, requirement: isSignable ? requirementOn(chain, facilitator, amount) : null }
  })
