import type { WalletFields } from '@market/contract/client'
import type { ServedTool } from '@market/contract/tools'
import type { Tool } from '@market/contract/tools/define'
import type { Call, CallPayment } from '@market/handlers/call'
import type { Execute } from '@market/handlers/execute'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { callFields, textOf } from './call-fields.ts'
import { failed, resultOf } from './results.ts'

/** Who calls tools in one HTTP request. */
export type Session = Pick<Call, 'caller' | 'address' | 'onCaller'>

type Fields = Readonly<Record<string, unknown>>

interface ToolCall {
  readonly arguments?: Fields | undefined
  readonly _meta?: Fields | undefined
}

/** Runs the operation of a tool in the same pipeline as a REST request. */
export async function runTool(
  execute: Execute,
  session: Session,
  tool: ServedTool,
  { arguments: given = {}, _meta: meta = {} }: ToolCall,
): Promise<CallToolResult> {
  if ('fails' in tool) return failed({ status: 410, body: { error: tool.fails, code: 'gone' }, headers: {} })
  const { fields, wallet } = splitWallet(tool, given)
  const response = await execute({
    operation: tool.operation,
    input: tool.inputOf(withoutTransfer(tool, fields)),
    // A signature in the arguments is the credential of this one call.
    ...session,
    ...(wallet && { caller: undefined }),
    credentials: wallet ? { wallet } : {},
    ...(tool.operation.payment && { payment: paymentOf(tool, fields) }),
    ...callFields(tool.input, given, meta),
  })
  return resultOf(tool, response)
}

function splitWallet(tool: Tool, given: Fields): { fields: Fields; wallet: WalletFields | undefined } {
  if (!('wallet_sig' in tool.input.shape)) return { fields: given, wallet: undefined }
  const { wallet, wallet_sig: signature, wallet_sig_ts: signedAtMs, wallet_chain: chain, ...fields } = given
  const isSigned = wallet !== undefined || signature !== undefined
  return { fields, wallet: isSigned ? { wallet, signature, signedAtMs, chain } : undefined }
}

function withoutTransfer(tool: Tool, fields: Fields): Fields {
  if (tool.isPaid !== true) return fields
  const { payment: _payment, network: _network, claim: _claim, ...rest } = fields
  return rest
}

function paymentOf(tool: Tool, { payment, network, claim }: Fields): CallPayment {
  if (tool.isPaid !== true) return { fields: {} }
  return { payment: textOf(payment), network: textOf(network), claim: textOf(claim), fields: {} }
}
