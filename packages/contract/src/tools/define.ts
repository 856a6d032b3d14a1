import { z } from 'zod'
import { isWrite, type Operation } from '../define.ts'
import { NetworkName } from '../schemas/money.ts'
import type { Scope } from '../scopes.ts'

export interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Open world: the result contains text that other users wrote. */
const hints = (destructiveHint: boolean, idempotentHint: boolean, openWorldHint: boolean): Annotations => ({
  ...{ readOnlyHint: false, destructiveHint, idempotentHint, openWorldHint },
})
export const READ: Annotations = { ...hints(false, true, false), readOnlyHint: true }
export const READ_OTHERS: Annotations = { ...READ, openWorldHint: true }
export const CREATE = hints(false, false, false)
export const CREATE_IN_ORDER = hints(false, false, true)
/** Each call takes away more. */
export const SPEND = hints(true, false, false)
export const UPDATE = hints(true, true, false)
export const UPDATE_ORDER = hints(true, true, true)

/** Arguments that name a transfer of the caller, which pays for the request. */
export const transferFields = {
  payment: z.string().min(1).max(100),
  network: NetworkName.optional().describe('Required for alt-mainnet'),
  claim: z.string().max(200).optional().describe('Of market_get_payment_requirements'),
}

type Fields = Readonly<Record<string, unknown>>

interface ToolInfo {
  readonly name: `market_${string}`
  readonly title: string
  /** What it does and what follows, in at most two sentences. */
  readonly description: string
  readonly annotations: Annotations
  /** Arguments for which a connected program needs the scope `market:keys`. */
  readonly keysFields?: readonly string[]
}

/** A tool of the MCP servers: an operation of the contract with a name, and with arguments for a language model. */
export interface Tool extends ToolInfo {
  readonly operation: Operation
  readonly scope: Scope
  readonly input: z.ZodObject
  /** Undefined where the result is the JSON of another protocol. */
  readonly output: z.ZodType | undefined
  /** The input of the operation, from arguments that `input` accepts. */
  readonly inputOf: (given: Fields) => Fields
  /** Whether it has `transferFields` beside the operation's input. */
  readonly isPaid?: true
  /** Whether its result is the 402 of its operation. */
  readonly isPrice?: true
}

/** A tool of the specification whose endpoint is gone. Every call fails. */
export interface FailingTool extends ToolInfo {
  readonly input: z.ZodObject
  readonly fails: string
}

type Changes = Partial<Pick<Tool, 'input' | 'output' | 'inputOf' | 'isPaid' | 'isPrice' | 'scope'>>

/** By default the arguments are the operation's input. */
export function tool(operation: Operation, info: ToolInfo, changes: Changes = {}): Tool {
  return {
    ...info,
    operation,
    scope: isWrite(operation) ? 'market:write' : 'market:read',
    input: operation.input as z.ZodObject,
    output: z.object({
      ...(info.annotations.openWorldHint && { notice: z.string() }),
      data: operation.output,
      ...(operation.beside?.shape ?? {}),
    }),
    inputOf: (given) => given,
    ...changes,
  }
}

const OwnAgent = z.string().min(1).max(600).default('me').describe('An agent’s id, or me')

/** A tool of an agent: the caller's own by default. */
export const ofOwnAgent = (operation: Operation): Changes => ({
  input: (operation.input as z.ZodObject).extend({ agent_id: OwnAgent }),
  inputOf: (given) => ({ agent_id: 'me', ...given }),
})
