import type { PaymentHeaders, WalletFields } from '../client.ts'
import type { FailingTool, Tool } from './define.ts'
import { failed, resultOf, type ToolResponse, type ToolResult } from './results.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a client sends with `tools/call` beside the name. */
export interface ToolCall {
  readonly arguments?: Fields | undefined
  readonly _meta?: Fields | undefined
}

/** A call of a tool as a request of its operation. */
export interface ToolRequest {
  readonly input: Fields
  /** A signature in the arguments. It is the credential of this one call. */
  readonly wallet: WalletFields | undefined
  readonly payment: PaymentHeaders
}

/** Runs a tool: `send` sends the request of its operation. */
export async function callTool(
  tool: Tool | FailingTool,
  { arguments: given = {} }: ToolCall,
  send: (tool: Tool, request: ToolRequest) => Promise<ToolResponse>,
): Promise<ToolResult> {
  if ('fails' in tool) return failed({ status: 410, body: { error: tool.fails, code: 'gone' }, headers: {} })
  return resultOf(tool, await send(tool, requestOfTool(tool, given)))
}

export const idempotencyKeyOf = (meta: Fields | undefined): string | undefined =>
  textOf(meta?.['market/idempotency-key'])

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function requestOfTool(tool: Tool, given: Fields): ToolRequest {
  const { fields, wallet } = splitWallet(tool, given)
  if (tool.isPaid !== true) return { input: tool.inputOf(fields), wallet, payment: {} }
  const { payment, network, claim, ...rest } = fields
  return {
    input: tool.inputOf(rest),
    wallet,
    payment: { payment: textOf(payment), network: textOf(network), claim: textOf(claim) },
  }
}

function splitWallet(tool: Tool, given: Fields): { fields: Fields; wallet: WalletFields | undefined } {
  if (!('wallet_sig' in tool.input.shape)) return { fields: given, wallet: undefined }
  const { wallet, wallet_sig: signature, wallet_sig_ts: signedAtMs, wallet_chain: chain, ...fields } = given
  const isSigned = wallet !== undefined || signature !== undefined
  return { fields, wallet: isSigned ? { wallet, signature, signedAtMs, chain } : undefined }
}
