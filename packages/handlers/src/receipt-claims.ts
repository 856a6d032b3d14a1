import { createHash } from 'node:crypto'
import type { ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { uploadIdIn } from '@market/files/uploads'
import type { AgentSummary } from '@market/identity/agents'
import { SECOND } from '@market/kernel/clock'
import { formatUsd, minus, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Deliverable, type ReceiptView, storedOrder } from '@market/trade/orders'
import type { Generation } from '@market/work/workspaces'
import type { HandlerContext } from './handler.ts'
import { presentWallet } from './present-agent.ts'

export type Receipt = ResponseOf<Operations['getReceipt']>['data']['receipt']
type Context = Pick<HandlerContext, 'baseUrl' | 'filesUrl' | 'signatures' | 'chains'>

export interface ReceiptParts extends ReceiptView {
  readonly agent: AgentSummary
  /** Of a workspace: the newest ones. */
  readonly generations: readonly Generation[]
}

const ISSUED_TO = {
  buyer: 'buyer',
  provider: 'agent',
  owner: 'agent',
  arbiter: 'operator',
  clock: 'operator',
} as const

/**
 * What the receipt says. The buyer does not read how the agent is paid, nor the agent who the buyer is: no party learns more
 * than by reading the order.
 */
export function receiptClaims(parts: ReceiptParts, ctx: Context): Receipt {
  const { order, role, payment, isFinal, agent } = parts
  const { deliveredAt, closedAt, outcome } = storedOrder(order)
  const issuedTo = ISSUED_TO[role]
  return {
    iss: ctx.baseUrl,
    sub: order.id,
    iat: Math.floor(newestTime(parts) / SECOND),
    issued_to: issuedTo,
    final: isFinal,
    order: {
      status: order.status,
      outcome: outcome === 'unpaid' ? null : outcome,
      created_at: order.createdAt.toISOString(),
      paid_at: order.paidAt.toISOString(),
      delivered_at: deliveredAt?.toISOString() ?? null,
      closed_at: closedAt?.toISOString() ?? null,
    },
    service: { id: order.listingId, bounty_id: order.bountyId, title: order.title },
    buyer: {
      id: issuedTo === 'agent' ? null : order.buyer,
      wallet: presentWallet(ctx, payment.payer),
      payer_proven: order.payerProven,
    },
    agent: { id: agent.id, slug: agent.slug, name: agent.name },
    amounts: amountsOf(parts),
    transfers: transfersOf(parts, ctx),
    ...deliverablesOf(parts, ctx),
  }
}

/** Everything that changes what the receipt says has a time in it, so that the same facts have the same `iat`. */
const newestTime = ({ order, payment, sent, generations }: ReceiptParts): number =>
  Math.max(
    order.updatedAt.getTime(),
    payment.happenedAt.getTime(),
    ...sent.map(({ updatedAt }) => updatedAt.getTime()),
    ...generations.map((one) => (one.status === 'pending' ? one.createdAt : one.endedAt).getTime()),
  )

function amountsOf({ order, payment, decided }: ReceiptParts): Receipt['amounts'] {
  const usdOf = (amount: Usdc | undefined) => (amount === undefined ? null : formatUsd(amount))
  return {
    paid_usd: formatUsd(payment.amount),
    price_usd: formatUsd(order.price),
    surplus_usd: formatUsd(minus(payment.amount, order.price)),
    agent_usd: usdOf(decided?.agent),
    fee_usd: usdOf(decided?.fee),
    refund_usd: usdOf(decided?.refund),
  }
}

function transfersOf({ payment, sent, role }: ReceiptParts, ctx: Context): Receipt['transfers'] {
  const moneyOf = (network: Network, amount: Usdc) => ({
    network,
    asset: { currency: 'USDC' as const, address: ctx.chains[network]?.usdc ?? null },
    amount_usd: formatUsd(amount),
  })
  const paid: Receipt['transfers'][number] = {
    direction: 'in',
    kind: 'payment',
    ...moneyOf(payment.network, payment.amount),
    wallet: presentWallet(ctx, payment.payer),
    tx_hash: payment.reference,
    at: payment.happenedAt.toISOString(),
  }
  const out = sent.map(({ kind, network, amount, payee, finalReference, updatedAt }) => {
    const isHidden = kind === 'payout' && role === 'buyer'
    return {
      direction: 'out' as const,
      kind: kind as 'payout' | 'refund' | 'surplus',
      ...moneyOf(network, amount),
      wallet: isHidden ? null : presentWallet(ctx, payee),
      tx_hash: isHidden ? null : finalReference,
      at: updatedAt.toISOString(),
    }
  })
  return [paid, ...out]
}

function deliverablesOf({ order, delivery, generations }: ReceiptParts, ctx: Context) {
  const items = delivery?.items ?? []
  const answers = generations.flatMap((one) => (one.status === 'completed' ? [one.item] : []))
  const completed = order.quotaTotal === 0 ? 0 : order.quotaUsed - order.quotaPending
  return {
    deliverables: [...items, ...answers].map((item) => hashesOf(item, ctx)),
    deliverables_total: items.length + completed,
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The hash of a file is the one that we computed when it was uploaded. What the agent says of other files is not in a receipt. */
export function hashesOf(
  { type, title, media_type, url, content, sha256: known }: Deliverable,
  { filesUrl }: Pick<Context, 'filesUrl'>,
): Receipt['deliverables'][number] {
  const isOurs = url !== undefined && uploadIdIn(filesUrl, url) !== undefined
  return {
    type,
    title: title ?? null,
    media_type: media_type ?? null,
    file_sha256: isOurs ? (known ?? null) : null,
    text_sha256: content === undefined ? null : sha256(content),
    url_sha256: url === undefined || isOurs ? null : sha256(url),
  }
}
