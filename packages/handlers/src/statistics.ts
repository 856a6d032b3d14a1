import { type Activity, listActivity } from '@market/core/activity'
import { findLeaders, readStatistics } from '@market/core/statistics'
import type { Db } from '@market/database/transact'
import { type Agent, findAgents } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { cursorAmong } from '@market/kernel/cursor'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { formatUsd, usdc } from '@market/kernel/money'
import { findListings, type ListingSummary } from '@market/offers/listings'
import { handler } from './handler.ts'

const byId = <T extends { readonly id: string }>(rows: readonly T[]): ReadonlyMap<string, T> =>
  new Map(rows.map((row) => [row.id, row]))

async function readAgents(db: Db, ids: readonly AgentId[]): Promise<ReadonlyMap<string, Agent>> {
  return byId(await findAgents(db, ids))
}

async function readListings(db: Db, ids: readonly ListingId[]): Promise<ReadonlyMap<string, ListingSummary>> {
  return byId(ids.length === 0 ? [] : await findListings(db, ids))
}

export const presentSummary = ({ id, name, slug, avatarUrl }: Agent) => ({
  agent_id: id,
  name,
  slug,
  avatar_url: avatarUrl,
})

/** A service that is not active is not public any more. */
const presentTitle = (listing: ListingSummary | undefined) =>
  listing?.active === true ? { service_id: listing.id, title: listing.title } : null

const presentActivity = (item: Activity, agent: Agent, listing: ListingSummary | undefined) => ({
  id: `act_${item.id}`,
  kind: item.kind,
  at: item.at.toISOString(),
  agent: presentSummary(agent),
  service: presentTitle(listing),
  rating: item.rating,
})

const noPrices = (): ApiError =>
  new ApiError('unavailable', 'This marketplace has no source of token prices.', {
    code: 'prices_not_configured',
    retryAfterSeconds: 60,
  })

export const statisticHandlers = {
  getPlatformStats: handler('getPlatformStats', {
    run: async (ctx) => ({ figures: await readStatistics(ctx.db), readAt: ctx.clock.now() }),
    present: ({ figures, readAt }) => ({
      data: {
        agents: Number(figures.agents),
        services: Number(figures.services),
        orders_created: Number(figures.orders_created),
        orders_in_progress: Number(figures.orders_in_progress),
        orders_completed: Number(figures.orders_completed),
        orders_cancelled: Number(figures.orders_cancelled),
        settled_usd: formatUsd(usdc(figures.completed_micros)),
        reviews: Number(figures.reviews),
        updated_at: readAt.toISOString(),
      },
    }),
  }),

  listActivity: handler('listActivity', {
    run: async (ctx, { filter, ...page }) => {
      const kind = filter === 'all' ? undefined : filter
      const { activity, nextCursor } = await listActivity(ctx, { kind, ...page })
      const [agents, listings] = await Promise.all([
        readAgents(ctx.db, [...new Set(activity.map(({ agentId }) => agentId))]),
        readListings(ctx.db, [...new Set(activity.flatMap(({ listingId }) => listingId ?? []))]),
      ])
      const shownAt = activity.flatMap(({ agentId }, at) => (agents.has(agentId) ? [at] : []))
      return {
        ...{ activity, agents, listings },
        nextCursor: cursorAmong(nextCursor, activity.length, shownAt),
      }
    },
    present: ({ activity, agents, listings, nextCursor }) => ({
      data: activity.flatMap((item) => {
        const agent = agents.get(item.agentId)
        return agent === undefined ? [] : [presentActivity(item, agent, listings.get(item.listingId ?? ''))]
      }),
      next_cursor: nextCursor,
    }),
  }),

  agentLeaderboard: handler('agentLeaderboard', {
    run: async (ctx, { limit }) => {
      const leaders = await findLeaders(ctx.db, limit)
      const agents = await readAgents(
        ctx.db,
        leaders.map(({ agentId }) => agentId),
      )
      return leaders.flatMap((leader) => {
        const agent = agents.get(leader.agentId)
        return agent === undefined ? [] : [{ ...leader, agent }]
      })
    },
    present: (leaders) => ({
      data: leaders.map(({ agent, settled, completedOrders }, at) => ({
        rank: at + 1,
        agent: presentSummary(agent),
        completed_orders: Number(completedOrders),
        settled_usd: formatUsd(usdc(settled)),
      })),
    }),
  }),

  getMarketData: handler('getMarketData', {
    run: (ctx, { mints }) => {
      if (ctx.prices === undefined) throw noPrices()
      return ctx.prices.findPrices([...new Set(mints)])
    },
    present: (prices) => ({
      data: Object.fromEntries(
        [...prices].map(([mint, price]) => [
          mint,
          price && { price_usd: price.priceUsd, market_cap_usd: price.marketCapUsd },
        ]),
      ),
    }),
  }),
}
