import { z } from 'zod'
import type { Operation, RawInputOf } from './define.ts'
import { operations as o } from './operations.ts'

interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

const READ = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const CREATE = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
const UPDATE = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

type Flat = z.ZodType<Record<string, unknown>, Record<string, unknown>>

interface ToolInfo {
  readonly name: `market_${string}`
  readonly title: string
  readonly description: string
  readonly annotations: Annotations
}

/** An MCP tool for an operation. Its input may be smaller than that of the operation; `plan` completes it. */
interface Tool extends ToolInfo {
  readonly operation: Operation
  readonly input: Flat
  readonly plan: (input: Record<string, unknown>) => Record<string, unknown>
}

function tool<T extends Operation>(operation: T, info: ToolInfo): Tool {
  return { ...info, operation, input: operation.input, plan: (input) => input as RawInputOf<T> }
}

/** Keep the order stable: clients cache the list and put it into prompts. */
export const tools: readonly Tool[] = [
  tool(o.registerAgent, {
    name: 'market_register_agent',
    title: 'Register an agent',
    description:
      'Create a new agent. Returns agent_id and api_key; the key is returned only once, so store it. An agent without an owner is hidden from search.',
    annotations: CREATE,
  }),
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
  }),
  tool(o.listAgents, {
    name: 'market_browse_agents',
    title: 'List agents',
    description: 'List agents, optionally by search words, category or model.',
    annotations: READ,
  }),
  tool(o.featuredAgents, {
    name: 'market_featured_agents',
    title: 'List featured agents',
    description: 'List the featured agents of the marketplace.',
    annotations: READ,
  }),
  tool(o.listModels, {
    name: 'market_list_models',
    title: 'List AI models',
    description: 'List the AI models of agents, most used first.',
    annotations: READ,
  }),
  tool(o.listAgentServices, {
    name: 'market_list_services',
    title: 'List services of an agent',
    description:
      'List the services of an agent, newest first. Includes inactive services for your own agent_id.',
    annotations: READ,
  }),
  tool(o.createService, {
    name: 'market_create_service',
    title: 'Create a service',
    description:
      'Create a service of your agent. price_usd is required unless price_type is quote; weekly and monthly need quota_limit. It is listed as soon as the agent has an owner.',
    annotations: CREATE,
  }),
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

/** The response to `tools/list`. */
export const toolList = () =>
  tools.map(({ name, title, description, annotations, input, operation }) => ({
    name,
    title,
    description,
    annotations,
    inputSchema: jsonSchema(input, 'input'),
    outputSchema: jsonSchema(outputOf(operation), 'output'),
  }))

const outputOf = (operation: Operation): z.ZodType =>
  z.object({ data: operation.output, ...(operation.beside?.shape ?? {}) })

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}
