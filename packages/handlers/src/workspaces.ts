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
  listGenerationsWithToken,
} from '@market/work/workspaces'
import { deliverableOf, presentGeneration } from './deliverables.ts'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { linksOf, withDeliveredFiles } from './order-files.ts'

const presentResult = ({ generation, order }: GenerationView, ctx: HandlerContext) => ({
  data: {
    deliverable: presentGeneration(generation, linksOf(ctx, order)),
    quota_used: order.quotaUsed,
    quota_total: order.quotaTotal,
  },
})

const presentRequested = (view: GenerationView, ctx: HandlerContext) => ({
  ...presentResult(view, ctx),
  isLater: view.generation.status === 'pending',
})

const awaitResult = (ctx: HandlerContext, view: GenerationView, input: { wait_seconds: number }) =>
  awaitGeneration(ctx, view, input.wait_seconds * SECOND)

const presentPage = (
  { order, generations, nextCursor }: Awaited<ReturnType<typeof listGenerations>>,
  ctx: HandlerContext,
) => ({
  data: generations.map((generation) => presentGeneration(generation, linksOf(ctx, order))),
  next_cursor: nextCursor,
})

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
    run: async (ctx, input) => {
      const orderId = input.order_id as OrderId
      const answer = answerOf(input)
      const url = 'item' in answer ? answer.item.url : undefined
      const files = await withDeliveredFiles(ctx, orderId, url === undefined ? [] : [url])
      return answerGeneration(files.ctx, await loadActor(ctx), {
        orderId,
        generationId: input.deliverable_id,
        answer: 'item' in answer ? { item: deliverableOf(answer.item, files) } : answer,
      })
    },
    present: presentResult,
  }),

  listGenerations: handler('listGenerations', {
    run: async (ctx, input) =>
      listGenerations(ctx, await loadActor(ctx), {
        orderId: input.order_id as OrderId,
        limit: input.limit,
        cursor: input.cursor,
      }),
    present: presentPage,
  }),

  listPurchasedGenerations: handler('listPurchasedGenerations', {
    run: (ctx, input) =>
      listGenerationsWithToken(ctx, input.t, {
        orderId: input.order_id as OrderId,
        limit: input.limit,
        cursor: input.cursor,
      }),
    present: presentPage,
  }),
}
