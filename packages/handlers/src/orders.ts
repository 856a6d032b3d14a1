import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { type Actor, provenWallets } from '@market/core/context'
import type { OwnWallet } from '@market/core/ports/signatures'
import { summarizeAgents } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import { inferNetwork, normalizeReference, readSigned } from '@market/money/payments'
import {
  acceptOrder,
  approveOrder,
  awaitSubmitted,
  cancelOrder,
  createOrder,
  createOrderSigned,
  declineRevision,
  deliverOrder,
  disputeOrder,
  getOrder,
  listAgentOrders,
  listOrders,
  type Order,
  type OrderPage,
  orderPurpose,
  payOrderSigned,
  quoteOrder,
  refundOrder,
  requestRevision,
  resolveDispute,
  startOrder,
} from '@market/trade/orders'
import { getPurchasedOrder } from '@market/trade/x402'
import { retryPayout } from '@market/work/earnings'
import { deliverablesOf, referencesIn } from './deliverables.ts'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor, loadPayer } from './load-actor.ts'
import { payByTransfer } from './name-transfer.ts'
import { usedBy, withDeliveredFiles, withUploads } from './order-files.ts'
import { presentView, withParts } from './order-page.ts'
import { moneyOf } from './parse.ts'
import { presentOrder, presentPayableOrder } from './present-order.ts'
import { PAYOUT_STATUS } from './present-payout.ts'
import { presentListedAgent } from './present-service.ts'
import { verdictOf } from './verdict-of.ts'

type ActInput = InputOf<Operations['actOnOrder']>

const missingField = (field: string, action: string): ApiError =>
  new ApiError('invalid', `${field} is required with action=${action}`, {
    details: [{ path: field, message: `is required with action=${action}` }],
  })

/** One order is paid once, so a request names one payment. */
function rejectBoth({ escrow_tx_hash, payment_network }: ActInput): void {
  const field = escrow_tx_hash === undefined ? 'payment_network' : 'escrow_tx_hash'
  if (escrow_tx_hash === undefined && payment_network === undefined) return
  throw new ApiError(
    'invalid',
    `Send either signed_payment or ${field}. A signed payment names its network.`,
    {
      details: [{ path: field, message: 'cannot be sent with signed_payment' }],
    },
  )
}

/** The order once its signed payment is confirmed; as it is when that takes too long. */
const afterSubmission = (
  ctx: HandlerContext,
  order: Order,
  {
    action = 'pay',
    signed_payment,
  }: { readonly action?: string; readonly signed_payment?: object | undefined },
): Promise<Order> =>
  action === 'pay' && signed_payment !== undefined ? awaitSubmitted(ctx, order) : Promise.resolve(order)

const isAwaited = (order: Order): boolean => order.status === 'accepted' && order.pending !== null

/** The wallet that will pay: `client_wallet`, which must sign or be linked, or else the wallet that signed the request. */
function clientWallet(
  ctx: HandlerContext,
  actor: Actor,
  requested: string | undefined,
): OwnWallet | undefined {
  const own = provenWallets(actor)
  if (requested === undefined) return ctx.actor.kind === 'user' ? ctx.caller.cosigner : own[0]
  const key = ctx.signatures.parseWallet(requested)?.key
  const wallet = own.find((one) => one.key === key)
  if (wallet !== undefined) return wallet
  throw new ApiError(
    'invalid',
    'client_wallet is not proven to be yours. Sign this request with it, or link it to your account.',
    {
      code: 'wallet_not_proven',
      details: [{ path: 'client_wallet', message: 'must sign the request or be linked to the account' }],
    },
  )
}

const ACTIONS: Readonly<
  Record<
    ActInput['action'],
    (ctx: HandlerContext, actor: Actor, id: OrderId, input: ActInput) => Promise<Order>
  >
> = {
  accept: (ctx, actor, id) => acceptOrder(ctx, actor, id),
  pay: async (ctx, actor, orderId, input) => {
    const { signed_payment: signed } = input
    if (signed !== undefined) {
      rejectBoth(input)
      return payOrderSigned(ctx, actor, orderId, readSigned(ctx.facilitators, signed))
    }
    if (input.escrow_tx_hash === undefined) throw missingField('escrow_tx_hash', 'pay')
    const network = input.payment_network ?? inferNetwork(input.escrow_tx_hash)
    const reference = normalizeReference(network, input.escrow_tx_hash)
    return payByTransfer(ctx, actor, orderPurpose, { orderId, network, reference })
  },
  approve: (ctx, actor, id) => approveOrder(ctx, actor, id),
  revision: async (ctx, actor, orderId, { feedback }) => {
    if (feedback === undefined) throw missingField('feedback', 'revision')
    return requestRevision(ctx, actor, { orderId, feedback })
  },
  dispute: async (ctx, actor, orderId, { reason }) => {
    if (reason === undefined) throw missingField('reason', 'dispute')
    return disputeOrder(ctx, actor, { orderId, reason })
  },
  cancel: (ctx, actor, id) => cancelOrder(ctx, actor, id),
  start: (ctx, actor, id) => startOrder(ctx, actor, id),
  decline_revision: (ctx, actor, id) => declineRevision(ctx, actor, id),
  refund: (ctx, actor, id) => refundOrder(ctx, actor, id),
}

/** A page of orders with the agents that work on them. */
async function withAgents(ctx: HandlerContext, page: OrderPage) {
  const ids = page.orders.map(({ agentId }) => agentId)
  return { ...page, agents: await summarizeAgents(ctx.db, ids) }
}

const presentPage = (
  { orders, agents, nextCursor }: Awaited<ReturnType<typeof withAgents>>,
  ctx: HandlerContext,
) => ({
  data: orders.map((order) => ({
    ...presentOrder(order, ctx),
    agent: presentListedAgent(agents(order.agentId)),
  })),
  next_cursor: nextCursor,
})

export const orderHandlers = {
  createOrder: handler('createOrder', {
    run: async (ctx, input) => {
      const actor = await loadActor(ctx)
      const client = clientWallet(ctx, actor, input.client_wallet)
      const references = [...input.reference_urls, ...input.reference_images]
      const use = { usedFor: 'reference', isPrivate: input.private } as const
      const files = await withUploads(ctx, references, usedBy(use))
      const wanted = {
        listingId: input.service_id as ListingId,
        brief: input.brief ?? '',
        referenceUrls: input.reference_urls.map(files.urlOf),
        referenceImages: input.reference_images.map(files.urlOf),
        requirementAnswers: input.requirement_answers,
        isPrivate: input.private,
        clientWallet: client?.key ?? null,
        clientProvenBy: client?.provenBy ?? null,
      }
      const keyHint = ctx.caller.agent?.apiKeyHint
      if (input.signed_payment === undefined) return createOrder(files.ctx, actor, wanted, keyHint)
      const signed = readSigned(ctx.facilitators, input.signed_payment)
      return createOrderSigned(files.ctx, actor, wanted, signed, keyHint)
    },
    present: (order: Order, ctx) => ({
      data: presentPayableOrder(order, ctx),
      isLater: isAwaited(order),
    }),
    afterCommit: afterSubmission,
  }),

  listOrders: handler('listOrders', {
    run: async (ctx, { status, workspaces, ...page }) => {
      const filter = { statuses: status ?? [], withQuota: workspaces }
      return withAgents(ctx, await listOrders(ctx, await loadActor(ctx), { ...page, ...filter }))
    },
    present: presentPage,
  }),

  getOrder: handler('getOrder', {
    run: async (ctx, input) =>
      withParts(ctx, await getOrder(ctx, await loadActor(ctx), input.order_id as OrderId)),
    present: presentView,
  }),

  getPurchasedOrder: handler('getPurchasedOrder', {
    run: async (ctx, input) =>
      withParts(ctx, await getPurchasedOrder(ctx, input.order_id as OrderId, input.t)),
    present: presentView,
  }),

  actOnOrder: handler('actOnOrder', {
    run: async (ctx, input) => {
      const actor = await (input.action === 'pay' ? loadPayer(ctx) : loadActor(ctx))
      return ACTIONS[input.action](ctx, actor, input.order_id as OrderId, input)
    },
    present: (order, ctx) => ({
      data: presentPayableOrder(order, ctx),
      isLater: isAwaited(order),
    }),
    afterCommit: afterSubmission,
  }),

  quoteOrder: handler('quoteOrder', {
    run: async (ctx, input) =>
      quoteOrder(ctx, await loadActor(ctx), {
        orderId: input.order_id as OrderId,
        price: moneyOf(input.price_usd),
        expiresInHours: input.expires_in_hours,
        message: input.message ?? null,
      }),
    present: (order, ctx) => ({ data: presentOrder(order, ctx) }),
  }),

  deliverOrder: handler('deliverOrder', {
    run: async (ctx, input) => {
      const orderId = input.order_id as OrderId
      const files = await withDeliveredFiles(ctx, orderId, referencesIn(input))
      const items = deliverablesOf(input, files)
      return deliverOrder(files.ctx, await loadActor(ctx), { orderId, items, note: input.note ?? null })
    },
    present: (order, ctx) => ({ data: presentOrder(order, ctx) }),
  }),

  retryPayout: handler('retryPayout', {
    run: async (ctx, input) => retryPayout(ctx, await loadActor(ctx), input.order_id as OrderId),
    present: (payout) => ({
      data: {
        order_id: payout.subject,
        payout: { status: PAYOUT_STATUS[payout.state], payee: payout.payee },
      },
    }),
  }),

  listAgentOrders: handler('listAgentOrders', {
    run: async (ctx, input) => {
      const page = await listAgentOrders(ctx, await loadActor(ctx), {
        agentId: input.agent_id as AgentId,
        statuses: input.status ?? [],
        listingId: input.service_id as ListingId | undefined,
        since: input.since === undefined ? undefined : new Date(input.since),
        limit: input.limit,
        cursor: input.cursor,
      })
      return withAgents(ctx, page)
    },
    present: presentPage,
  }),

  resolveDispute: handler('resolveDispute', {
    run: async (ctx, input) => {
      const verdict = verdictOf(input, 'agent_share_bps')
      return resolveDispute(ctx, input.order_id as OrderId, verdict, input.note)
    },
    present: (order, ctx) => ({ data: presentOrder(order, ctx) }),
  }),
}
