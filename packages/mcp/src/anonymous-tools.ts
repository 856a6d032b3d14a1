import { operations as o } from '@market/contract/operations'
import { WalletChain } from '@market/contract/schemas/common'
import { jsonSchema } from '@market/contract/tools'
import type { ToolCall } from '@market/contract/tools/call'
import { SearchAgents, searchInput } from '@market/contract/tools/orders'
import { failed, marked, textItem } from '@market/contract/tools/results'
import type { ApiResponse } from '@market/handlers/call'
import type { Execute } from '@market/handlers/execute'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { callFields } from './call-fields.ts'
import { RESULT_BUDGET } from './result-budget.ts'
import type { Session } from './run-tool.ts'

const { service_id, brief } = o.payService.input.shape

const HireAgent = z.strictObject({
  service_id,
  brief: brief.unwrap(),
  chain: WalletChain.default('solana'),
})

export const ANONYMOUS_TOOLS = [
  {
    name: 'search_agents',
    description: 'Search services of agents that can be hired by one payment, by words and category.',
    inputSchema: jsonSchema(SearchAgents, 'input'),
  },
  {
    name: 'hire_agent',
    description:
      'Hire a service. Without a payment it returns the payment requirements in USDC. Pay, then call again with the payment, or send the transaction to POST /api/x402/pay.',
    inputSchema: jsonSchema(HireAgent, 'input'),
  },
]

type Fields = Readonly<Record<string, unknown>>

/** Undefined for a tool that does not exist. */
export async function runAnonymousTool(
  execute: Execute,
  session: Session,
  { name, arguments: given = {}, _meta: meta = {} }: ToolCall & { readonly name: string },
): Promise<CallToolResult | undefined> {
  const call = { ...session, credentials: {}, budget: RESULT_BUDGET }
  switch (name) {
    case 'search_agents': {
      const response = await execute({
        ...call,
        operation: o.listPayableServices,
        input: searchInput(given),
        ...callFields(SearchAgents, given, meta),
      })
      if (response.status >= 400) return failed(response)
      const { success: _, ...found } = response.body as Record<string, unknown>
      return { content: [textItem(found, true)] }
    }
    case 'hire_agent': {
      const { chain = 'solana', ...input } = given
      const signature = signatureOf(meta['x402/payment'])
      const response = await execute({
        ...call,
        // A question about the price does not count as a payment.
        // fix: price-limit
        operation: signature === undefined ? o.hireService : o.payService,
        input,
        payment: { signature, fields: {} },
        ...callFields(HireAgent, given, meta),
      })
      return hireResult(response, String(chain))
    }
    default:
      return undefined
  }
}

/** A payment of x402 version 2, which HTTP sends as base64 in `PAYMENT-SIGNATURE`. */
const signatureOf = (payment: unknown): string | undefined =>
  payment === undefined ? undefined : Buffer.from(JSON.stringify(payment)).toString('base64')

const decoded = (header: string | undefined): Fields | undefined =>
  header === undefined ? undefined : (JSON.parse(Buffer.from(header, 'base64').toString()) as Fields)

function hireResult(response: ApiResponse, chain: string): CallToolResult {
  const { status, body, headers } = response
  if (status === 402) return requirements(body as Challenge, decoded(headers['PAYMENT-REQUIRED']), chain)
  if (status >= 400) return failed(response)
  const { data } = body as { data: Record<string, unknown> }
  const settled = decoded(headers['PAYMENT-RESPONSE'])
  return {
    content: [textItem(marked(data), false)],
    ...(settled && { _meta: { 'x402/payment-response': settled } }),
  }
}

interface Challenge {
  /** Why the payment was rejected. */
  readonly message?: string
  readonly accepts: readonly { readonly network: string }[]
}

/**
 * First the requirements of the specification for the chosen chain, then those of x402 version 2 for stock clients, which
 * choose among all chains, then why a payment was rejected. Where the chosen chain is not offered, the first item says which
 * ones are.
 */
function requirements(
  { accepts, message }: Challenge,
  required: Fields | undefined,
  chain: string,
): CallToolResult {
  const chosen = accepts.find(({ network }) => network === `${chain}-mainnet`)
  // Clients parse these items, so the mark is a field.
  const first = chosen === undefined ? notOffered(accepts, chain) : asItem(chosen)
  return {
    ...first,
    content: [
      ...first.content,
      ...(required === undefined ? [] : asItem(required).content),
      // fix: mcp-rejected-payment
      ...(message === undefined ? [] : [{ type: 'text' as const, text: message }]),
    ],
    ...(required && { structuredContent: marked(required) }),
  }
}

const asItem = (requirement: object): CallToolResult => ({
  isError: true,
  content: [textItem(marked({ ...requirement }), false)],
})

function notOffered(accepts: Challenge['accepts'], chain: string): CallToolResult {
  const offered = accepts.map(({ network }) => network.replace('-mainnet', ''))
  const error = `This service cannot be paid on ${chain}. Pay on ${offered.join(' or ')}.`
  const body = { error, code: 'network_not_accepted', chains: offered }
  return failed({ status: 400, body, headers: {} }) as CallToolResult
}
