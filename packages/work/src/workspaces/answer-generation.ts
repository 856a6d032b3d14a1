import type { Actor, Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { completeQuota, type Deliverable, lockWorkspace, returnQuota, roleIn } from '@market/trade/orders'
import { emitGenerated } from './events.ts'
import { type Generation, type GenerationView, generationNotFound, rejectEnded } from './generation.ts'
import { findGeneration, saveEnded } from './store.ts'

/** What the agent made, or why it made nothing. */
export type Answer = { readonly item: Deliverable } | { readonly failure: string }

/** The agent completes a generation, or fails it, which gives the unit of the quota back to the buyer. */
export function answerGeneration(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  { orderId, generationId, answer }: { orderId: OrderId; generationId: string; answer: Answer },
): Promise<GenerationView> {
  return ctx.transact(async (tx) => {
    const order = await lockWorkspace(ctx, tx, orderId, async (locked) => {
      if ((await roleIn(tx, locked, actor)) !== 'buyer') return
      throw new ApiError('forbidden', 'Only the agent or its owner can answer a generation.', {
        code: 'not_your_act',
      })
    })
    const now = ctx.clock.now()
    const pending = await findGeneration(tx, orderId, generationId)
    if (pending === undefined) throw generationNotFound(generationId)
    rejectEnded(pending, now)
    const generation = ended(pending, answer, now)
    await saveEnded(tx, generation)
    await emitGenerated(ctx, tx, order, generation)
    const save = generation.status === 'completed' ? completeQuota : returnQuota
    return { generation, order: await save(ctx, tx, order) }
  })
}

const ended = (
  { id, orderId, prompt, deadline, createdAt }: Generation,
  answer: Answer,
  endedAt: Date,
): Exclude<Generation, { status: 'pending' }> => {
  const core = { id, orderId, prompt, deadline, createdAt, endedAt }
  return 'item' in answer
    ? { ...core, status: 'completed', item: answer.item }
    : { ...core, status: 'failed', failure: answer.failure }
}
