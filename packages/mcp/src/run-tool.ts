import { isWrite, type Operation } from '@market/contract/define'
import type { ServedTool } from '@market/contract/tools'
import { callTool, type ToolCall } from '@market/contract/tools/call'
import type { ToolResult } from '@market/contract/tools/results'
import type { Call } from '@market/handlers/call'
import type { Execute } from '@market/handlers/execute'
import { callFields } from './call-fields.ts'
import { RESULT_BUDGET } from './result-budget.ts'

/** Who calls tools in one HTTP request. */
export type Session = Pick<Call, 'caller' | 'address' | 'client' | 'requestId'>

/** Runs the operation of a tool in the same pipeline as a REST request. */
export const runTool = (
  execute: Execute,
  session: Session,
  called: ServedTool,
  call: ToolCall,
): Promise<ToolResult> =>
  callTool(called, call, ({ operation, input: schema }, { input, wallet, payment }) =>
    execute({
      operation,
      input,
      ...session,
      // fix: tool-budget
      budget: RESULT_BUDGET,
      ...countedAs(operation, session),
      ...(wallet && { caller: undefined }),
      credentials: wallet ? { wallet } : {},
      ...(operation.payment && { payment: { ...payment, fields: {} } }),
      ...callFields(schema, call.arguments ?? {}, call._meta ?? {}),
    }),
  )

/**
 * Agents may register others. As in REST, the client's address counts for that: otherwise each new agent could register
 * more agents.
 */
const countedAs = (operation: Operation, { client }: Session): Partial<Session> =>
  isWrite(operation) && !operation.callers.includes('agent') && client !== undefined
    ? { address: client, client: undefined }
    : {}
