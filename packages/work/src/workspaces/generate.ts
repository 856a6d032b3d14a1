import { setTimeout as wait } from 'node:timers/promises'
import type { Actor, Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import { ApiError } from '@market/kernel/api-error'
import { later } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { findOrder, lockWorkspace, type Order, roleIn, takeQuota } from '@market/trade/orders'
import { requireAccessToken } from '@market/trade/x402'
import type { GenerationView } from './generation.ts'
import { findGeneration, insertGeneration } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'generationTimeoutMs'>

interface Request {
  readonly orderId: OrderId
  readonly prompt: string
}

/** The buyer requests a generation. The unit of the quota, the row and the agent's event are written together. */
export const generate = (ctx: Ctx, actor: Actor, request: Request): Promise<GenerationView> =>
  generateAs(ctx, request, async (order, tx) => {
    if ((await roleIn(tx, order, actor)) === 'buyer') return
    throw new ApiError('forbidden', 'Only the buyer can request generations in this workspace.', {
      code: 'not_your_act',
    })
  })

/** A buyer by x402 has no account; the access token of the order shows who it is. */
export const generateWithToken = (ctx: Ctx, token: string, request: Request): Promise<GenerationView> =>
  generateAs(ctx, request, async (order) => requireAccessToken(ctx, order, token))

function generateAs(
  ctx: Ctx,
  { orderId, prompt }: Request,
  authorize: (order: Order, tx: Parameters<typeof lockWorkspace>[1]) => Promise<void>,
): Promise<GenerationView> {
  return ctx.transact(async (tx) => {
    const order = await lockWorkspace(ctx, tx, orderId, (locked) => authorize(locked, tx))
    const now = ctx.clock.now()
    const deadline = later(now, ctx.generationTimeoutMs)
    const after = await takeQuota(ctx, tx, order, deadline)
    const id = ctx.ids.next('dlv')
    const generation = { id, orderId, prompt, status: 'pending', deadline, createdAt: now } as const
    await insertGeneration(tx, generation)
    await emit(ctx, tx, {
      agentId: order.agentId,
      event: 'workspace.generate',
      orderId,
      data: { deliverable_id: id, prompt, deadline: deadline.toISOString() },
    })
    return { generation, order: after }
  })
}

const POLL_MS = 400

/** Waits for the agent's answer, and returns the generation as it is then. */
export async function awaitGeneration(
  ctx: Needs<'db'>,
  view: GenerationView,
  waitMs: number,
): Promise<GenerationView> {
  const { id, orderId } = view.generation
  const until = performance.now() + waitMs
  for (;;) {
    const left = until - performance.now()
    if (left <= 0) return view
    await wait(Math.min(POLL_MS, left))
    const generation = await findGeneration(ctx.db, orderId, id)
    if (generation !== undefined && generation.status !== 'pending')
      return { generation, order: await findOrder(ctx.db, orderId) }
  }
}
