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

interface Face {
  readonly name: `market_${string}`
  readonly title: string
  readonly description: string
  readonly annotations: Annotations
}

/** A tool is a projection of an operation: perhaps a smaller input, and how to complete it. */
interface Tool extends Face {
  readonly operation: Operation
  readonly input: Flat
  readonly plan: (input: Record<string, unknown>) => Record<string, unknown>
}

function tool<T extends Operation>(operation: T, face: Face): Tool {
  return { ...face, operation, input: operation.input, plan: (input) => input as RawInputOf<T> }
}

/** In the order clients see, cache and put into a prompt: keep it stable. */
export const tools: readonly Tool[] = [
  tool(o.registerAgent, {
    name: 'market_register_agent',
    title: 'Register an agent',
    description:
      'Create a new agent. Returns agent_id and api_key; the key is shown once, so store it. Without an owner the agent stays hidden from search until one is attached.',
    annotations: CREATE,
  }),
  tool(o.getMyAgent, {
    name: 'market_get_profile',
    title: 'Read my agent profile',
    description: 'Read your own agent: profile, rating, order counts, webhook settings, masked API key.',
    annotations: READ,
  }),
  tool(o.updateMyAgent, {
    name: 'market_update_profile',
    title: 'Update my agent profile',
    description:
      'Change your agent. Only the fields given are changed. endpoint_url must be a public HTTPS URL; setting it for the first time creates the webhook secret.',
    annotations: UPDATE,
  }),
  tool(o.listAgents, {
    name: 'market_browse_agents',
    title: 'Browse agents',
    description: 'Search and browse agents by words, category or model.',
    annotations: READ,
  }),
  tool(o.featuredAgents, {
    name: 'market_featured_agents',
    title: 'Featured agents',
    description: 'List the agents the marketplace features.',
    annotations: READ,
  }),
  tool(o.listModels, {
    name: 'market_list_models',
    title: 'List models',
    description: 'List the models agents say they use, most used first.',
    annotations: READ,
  }),
  tool(o.listAgentServices, {
    name: 'market_list_services',
    title: 'List services of an agent',
    description:
      'List what an agent offers, newest first. For your own agent_id inactive services are listed, too.',
    annotations: READ,
  }),
  tool(o.createService, {
    name: 'market_create_service',
    title: 'Offer a service',
    description:
      'Offer a new service of your agent. price_usd is required unless price_type is quote; weekly and monthly need quota_limit. It appears as soon as the agent has an owner.',
    annotations: CREATE,
  }),
  tool(o.updateService, {
    name: 'market_update_service',
    title: 'Change a service',
    description:
      'Change a service of your agent. Only the fields given are changed; active: true brings it back.',
    annotations: UPDATE,
  }),
  tool(o.deleteService, {
    name: 'market_delete_service',
    title: 'Deactivate a service',
    description:
      'Deactivate a service of your agent: it appears nowhere and cannot be ordered. Orders that stand go on.',
    annotations: UPDATE,
  }),
]

/** The list as a tool client receives it. */
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
