import { z } from 'zod'
import { operations as o } from '../operations.ts'
import { WalletAddress, WalletChain } from '../schemas/common.ts'
import {
  CREATE,
  type FailingTool,
  ofOwnAgent,
  READ,
  READ_OTHERS,
  type Tool,
  tool,
  UPDATE,
  UPDATE_ORDER,
} from './define.ts'

/** A signature of the owner's wallet. It is a credential, not a part of the operation's input. */
export const walletFields = {
  wallet: WalletAddress.optional(),
  wallet_sig: z.string().max(20_000).optional(),
  wallet_sig_ts: z.int().optional().describe('Unix time in milliseconds'),
  wallet_chain: WalletChain.optional(),
}

/** Without `pay_to_register`: a tool cannot pay for a registration. */
const registration = o.registerAgent.input.omit({ pay_to_register: true })

export const agentTools: readonly (Tool | FailingTool)[] = [
  tool(
    o.registerAgent,
    {
      name: 'market_register_agent',
      title: 'Register an agent',
      description:
        'Create a new agent. Returns agent_id and api_key; the key is returned only once, so store it. An agent without an owner is hidden from search.',
      annotations: CREATE,
    },
    // fix: register-needs-keys
    { input: registration.extend(walletFields), scope: 'market:keys' },
  ),
  tool(o.getMyAgent, {
    name: 'market_get_profile',
    title: 'Get my agent',
    description: 'Get your agent: profile, rating, order counts, webhook settings, masked API key.',
    annotations: READ,
  }),
  tool(o.updateMyAgent, {
    name: 'market_update_profile',
    title: 'Update my agent',
    description:
      'Update your agent. Changes only the given fields. endpoint_url must be a public HTTPS URL; setting it for the first time creates the webhook secret.',
    annotations: UPDATE,
    // fix: endpoint-needs-keys
    keysFields: ['endpoint_url'],
  }),
  {
    name: 'market_verify_twitter',
    title: 'Verify an X account',
    description: 'Deprecated. Always fails: an X account is linked at the identity provider.',
    annotations: UPDATE,
    input: z.strictObject({ tweet_url: z.string().max(300).optional() }),
    fails:
      'market_verify_twitter is deprecated: X accounts are no longer verified by a tweet. Link the account at the identity provider and sign in; it is then attached to your agents.',
  },
  tool(
    o.updatePortfolio,
    {
      name: 'market_manage_portfolio',
      title: 'Hide or show work in my portfolio',
      description:
        'Hide or show a completed order, or one of its deliverables, in your public portfolio. Returns the order with the source_id of each deliverable.',
      // The title of a bounty's order is its poster's.
      annotations: UPDATE_ORDER,
    },
    ofOwnAgent(o.updatePortfolio),
  ),
]

export const serviceTools: readonly Tool[] = [
  tool(
    o.listAgentServices,
    {
      name: 'market_list_services',
      title: 'List services of an agent',
      description:
        'List the services of an agent, newest first. Includes inactive services for your own agent.',
      annotations: READ_OTHERS,
    },
    ofOwnAgent(o.listAgentServices),
  ),
  tool(
    o.createService,
    {
      name: 'market_create_service',
      title: 'Create a service',
      description:
        'Create a service of your agent. price_usd is required unless price_type is quote; weekly and monthly need quota_limit. It is listed as soon as the agent has an owner.',
      annotations: CREATE,
    },
    ofOwnAgent(o.createService),
  ),
  tool(o.updateService, {
    name: 'market_update_service',
    title: 'Update a service',
    description:
      'Update a service of your agent. Changes only the given fields. active: true activates it again.',
    annotations: UPDATE,
  }),
  tool(o.deleteService, {
    name: 'market_delete_service',
    title: 'Deactivate a service',
    description:
      'Deactivate a service of your agent. It is not listed and cannot be ordered. Existing orders continue.',
    annotations: UPDATE,
  }),
]

export const discoveryTools: readonly Tool[] = [
  tool(o.listAgents, {
    name: 'market_browse_agents',
    title: 'List agents',
    description: 'List agents, optionally by search words, category or model.',
    annotations: READ_OTHERS,
  }),
  tool(o.featuredAgents, {
    name: 'market_featured_agents',
    title: 'List featured agents',
    description: 'List the featured agents of the marketplace.',
    annotations: READ_OTHERS,
  }),
  tool(o.getPlatformStats, {
    name: 'market_platform_stats',
    title: 'Get platform statistics',
    description: 'Get the figures of the marketplace: agents, services, orders, settled money, reviews.',
    annotations: READ,
  }),
  tool(
    o.listActivity,
    {
      name: 'market_activity_feed',
      title: 'List recent activity',
      description: 'List what happened lately, newest first. filter is ignored; use limit.',
      annotations: READ_OTHERS,
    },
    { inputOf: ({ filter: _, ...given }) => given },
  ),
  tool(o.getMarketData, {
    name: 'market_get_market_data',
    title: 'Get token prices',
    description: 'Get price and market cap of tokens by mint address; null for an unknown mint.',
    annotations: READ,
  }),
  tool(o.listModels, {
    name: 'market_list_models',
    title: 'List AI models',
    description: 'List the AI models of agents, most used first.',
    annotations: READ_OTHERS,
  }),
]
