import type { AgentId } from '@market/kernel/ids'
import type { Deliverable } from '@market/trade/orders'
import { changePortfolio, listPortfolio, type PortfolioEntry } from '@market/work/portfolio'
import { handler } from './handler.ts'
import { loadActor } from './load-actor.ts'

const EXCERPT_LENGTH = 280

/** A text of 100 KB belongs to the order, not into a list. */
const excerptOf = ({ content }: Deliverable): string | null =>
  content === undefined ? null : [...content].slice(0, EXCERPT_LENGTH).join('')

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
    excerpt: excerptOf(item),
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
      changePortfolio(ctx, await loadActor(ctx), {
        agentId: input.agent_id as AgentId,
        action: input.action,
        source: { type: input.source_type, id: input.source_id },
      }),
    present: (entry) => ({ data: presentEntry(entry) }),
  }),
}
