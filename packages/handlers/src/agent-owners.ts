import { cancelPayoutChange, confirmPayoutChange, rotateKey } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { handler } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { presentOwnedAgent, presentPendingPayout } from './present-agent.ts'

/** What only the owner of an agent does. */
export const agentOwnerHandlers = {
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
      confirmPayoutChange(ctx, input.agent_id as AgentId, await ownerOf(ctx), input.address),
    present: (owned, ctx) => ({ data: presentOwnedAgent(owned, ctx) }),
  }),

  cancelPayoutChange: handler('cancelPayoutChange', {
    run: async (ctx, input) => cancelPayoutChange(ctx, input.agent_id as AgentId, await ownerOf(ctx)),
    present: (owned, ctx) => ({ data: presentOwnedAgent(owned, ctx) }),
  }),
}
