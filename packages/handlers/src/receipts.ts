import { summarizeAgents } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { getReceipt, type ReceiptView } from '@market/trade/orders'
import { getPurchasedReceipt } from '@market/trade/x402'
import { newestGenerations } from '@market/work/workspaces'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { type Receipt, receiptClaims } from './receipt-claims.ts'

interface SignedReceipt {
  readonly jws: string
  readonly receipt: Receipt
}

async function signed(ctx: HandlerContext, view: ReceiptView): Promise<SignedReceipt> {
  const [agents, generations] = await Promise.all([
    summarizeAgents(ctx.db, [view.order.agentId]),
    newestGenerations(ctx.db, view.order),
  ])
  const receipt = receiptClaims({ ...view, agent: agents(view.order.agentId), generations }, ctx)
  return { jws: await ctx.receipts.sign(receipt), receipt }
}

const present = (data: SignedReceipt) => ({ data })

export const receiptHandlers = {
  getReceipt: handler('getReceipt', {
    run: async (ctx, input) =>
      signed(ctx, await getReceipt(ctx, await loadActor(ctx), input.order_id as OrderId)),
    present,
  }),

  getPurchasedReceipt: handler('getPurchasedReceipt', {
    run: async (ctx, input) =>
      signed(ctx, await getPurchasedReceipt(ctx, input.order_id as OrderId, input.t)),
    present,
  }),
}
