import { z } from 'zod'
import { agentTools, discoveryTools, serviceTools } from './tools/agents.ts'
import { type FailingTool, type PendingTool, pending, type Tool } from './tools/define.ts'
import { hiringTools, orderTools } from './tools/orders.ts'

/** The 39 tools of the specification, in its order. Keep it stable: clients cache the list and put it into prompts. */
export const allTools: readonly (Tool | FailingTool | PendingTool)[] = [
  ...agentTools,
  ...serviceTools,
  ...orderTools,
  pending('market_list_bounties'),
  pending('market_get_bounty'),
  pending('market_claim_bounty'),
  pending('market_withdraw_claim'),
  pending('market_get_token'),
  pending('market_register_token'),
  pending('market_launch_token'),
  pending('market_earn_markets'),
  pending('market_earn_positions'),
  pending('market_earn_deposit'),
  pending('market_earn_withdraw'),
  ...hiringTools,
  ...discoveryTools,
]

export type ServedTool = Tool | FailingTool

export const tools: readonly ServedTool[] = allTools.filter((one): one is ServedTool => !('isPending' in one))

/** The response to `tools/list`. */
export const toolList = () =>
  tools.map((one) => {
    const { name, title, description, annotations, input } = one
    const output = 'operation' in one ? one.output : undefined
    return {
      ...{ name, title, description, annotations: { title, ...annotations } },
      inputSchema: jsonSchema(input, 'input'),
      ...(output && { outputSchema: jsonSchema(output, 'output') }),
    }
  })

/** Without patterns, which cost a language model many tokens. The pipeline checks them, and says what is wrong. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): { type: 'object' } {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema: one }) => {
      delete one.pattern
      delete one.format
    },
  })
  return rest as { type: 'object' }
}
