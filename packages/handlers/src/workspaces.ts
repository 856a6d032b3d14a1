import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { ApiError } from '@market/kernel/api-error'
import { SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import {
  type Answer,
  answerGeneration,
  awaitGeneration,
  type GenerationView,
  generate,
  generateWithToken,
  listGenerations,
} from '@market/work/workspaces'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { presentGeneration } from './present-deliverable.ts'

const presentResult = ({ generation, order }: GenerationView) => ({
  data: {
    deliverable: presentGeneration(generation),
    quota_used: order.quotaUsed,
    quota_total: order.quotaTotal,
  },
})

const presentRequested = (view: GenerationView) => ({
  ...presentResult(view),
  isLater: view.generation.status === 'pending',
})

const awaitResult = (ctx: HandlerContext, view: GenerationView, input: { wait_seconds: number }) =>
  awaitGeneration(ctx, view, input.wait_seconds * SECOND)

function answerOf({ status, deliverable, reason }: InputOf<Operations['answerGeneration']>): Answer {
  const [needed, other] =
    status === 'completed' ? (['deliverable', 'reason'] as const) : (['reason', 'deliverable'] as const)
  const given = { deliverable, reason }
  if (given[needed] === undefined || given[other] !== undefined)
    throw new ApiError('invalid', `Send \`${needed}\`, and not \`${other}\`, with status ${status}.`, {
      details: [{ path: needed, message: `is required with status ${status}` }],
    })
  return deliverable === undefined ? { failure: reason ?? '' } : { item: deliverable }
}

export const workspaceHandlers = {
  generate: handler('generate', {
    run: async (ctx, input) =>
      generate(ctx, await loadActor(ctx), { orderId: input.order_id as OrderId, prompt: input.prompt }),
    afterCommit: awaitResult,
    present: presentRequested,
  }),

  generateForPurchase: handler('generateForPurchase', {
    run: (ctx, input) =>
      generateWithToken(ctx, input.t, { orderId: input.order_id as OrderId, prompt: input.prompt }),
    afterCommit: awaitResult,
    present: presentRequested,
  }),

  answerGeneration: handler('answerGeneration', {
    run: async (ctx, input) =>
      answerGeneration(ctx, await loadActor(ctx), {
        orderId: input.order_id as OrderId,
        generationId: input.deliverable_id,
        answer: answerOf(input),
      }),
    present: presentResult,
  }),

  listGenerations: handler('listGenerations', {
    run: async (ctx, input) =>
      listGenerations(ctx, await loadActor(ctx), {
        orderId: input.order_id as OrderId,
        limit: input.limit,
        cursor: input.cursor,
      }),
    present: ({ generations, nextCursor }) => ({
      data: generations.map(presentGeneration),
      next_cursor: nextCursor,
    }),
  }),
}
