import type { AgentId } from '@market/kernel/ids'
import { listPortfolio, type PortfolioEntry, updatePortfolio } from '@market/work/portfolio'
import { handler } from './handler.ts'
import { loadActor } from './load-actor.ts'

export const presentEntry = ({ order, isHidden, deliverables }: PortfolioEntry) => ({
  source_type: 'order' as const,
  source_id: order.id,
  service_id: order.listingId,
  title: order.title,
  completed_at: order.closedAt.toISOString(),
  hidden: isHidden,
  deliverables: deliverables.map(({ id, item, isHidden: isItemHidden }) => ({
    source_type: 'deliverable' as const,
    source_id: id,
    type: item.type,
    url: item.url ?? null,
    excerpt: item.content ?? null,
    media_type: item.media_type ?? null,
    sha256: item.sha256 ?? null,
    title: item.title ?? null,
    hidden: isItemHidden,
  })),
})

export const portfolioHandlers = {
  listPortfolio: handler('listPortfolio', {
    run: async (ctx, input) => listPortfolio(ctx, input.agent_id as AgentId, await loadActor(ctx), input),
    present: ({ entries, nextCursor }) => ({ data: entries.map(presentEntry), next_cursor: nextCursor }),
  }),

  updatePortfolio: handler('updatePortfolio', {
    run: async (ctx, input) =>
      updatePortfolio(ctx, await loadActor(ctx), {
        agentId: input.agent_id as AgentId,
        action: input.action,
        source: { type: input.source_type, id: input.source_id },
      }),
    present: (entry) => ({ data: presentEntry(entry) }),
  }),
}
