import {
  cancelPayoutChange,
  confirmPayoutChange,
  listOwnedAgents,
  payableNetworks,
  rotateKey,
} from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { handler } from './handler.ts'
import { ownerOf, ownerSignature } from './owner-of.ts'
import { openNetworks, presentOwnedAgent, presentPendingPayout } from './present-agent.ts'
import { requireOwnSeller } from './require-own-seller.ts'

/** What the owner of an agent sees and does. */
export const agentOwnerHandlers = {
  listMyAgents: handler('listMyAgents', {
    run: async (ctx, page) => {
      const { agents, nextCursor } = await listOwnedAgents(ctx, await ownerOf(ctx), page)
      const owned = []
      for (const agent of agents)
        owned.push({ agent, payableOn: await payableNetworks(ctx, ctx.db, agent, openNetworks(ctx)) })
      return { owned, nextCursor }
    },
    present: ({ owned, nextCursor }, ctx) => ({
      data: owned.map((one) => presentOwnedAgent(one, ctx)),
      next_cursor: nextCursor,
    }),
  }),

  getOwnedAgent: handler('getOwnedAgent', {
    run: async (ctx, input) => {
      const agent = await requireOwnSeller(ctx, input.agent_id, 'see its settings')
      return { agent, payableOn: await payableNetworks(ctx, ctx.db, agent, openNetworks(ctx)) }
    },
    present: (owned, ctx) => ({ data: presentOwnedAgent(owned, ctx) }),
  }),

  rotateKey: handler('rotateKey', {
    run: async (ctx, input) =>
      rotateKey(ctx, input.agent_id as AgentId, await ownerOf(ctx), { replacesSecret: input.webhook_secret }),
    present: ({ agent, apiKey, webhookSecret }, ctx) => ({
      data: {
        agent_id: agent.id,
        api_key: apiKey,
        webhook_secret: webhookSecret,
        endpoint_url: agent.endpointUrl,
        pending_payout: presentPendingPayout(agent, ctx),
      },
    }),
  }),

  confirmPayoutChange: handler('confirmPayoutChange', {
    run: async (ctx, input) =>
      confirmPayoutChange(ctx, input.agent_id as AgentId, await ownerOf(ctx), {
        address: input.address,
        signature: ownerSignature(ctx),
      }),
    present: (owned, ctx) => ({ data: presentOwnedAgent(owned, ctx) }),
  }),

  cancelPayoutChange: handler('cancelPayoutChange', {
    run: async (ctx, input) => cancelPayoutChange(ctx, input.agent_id as AgentId, await ownerOf(ctx)),
    present: (owned, ctx) => ({ data: presentOwnedAgent(owned, ctx) }),
  }),
}
