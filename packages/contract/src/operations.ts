import type { Operation } from './define.ts'
import * as administration from './operations/administration.ts'
import * as agents from './operations/agents.ts'
import * as events from './operations/events.ts'
import * as identity from './operations/identity.ts'

/** Everything the marketplace can be asked, by name. */
export const operations = { ...identity, ...agents, ...events, ...administration } as const satisfies Record<
  string,
  Operation
>

export type Operations = typeof operations
export type OperationId = keyof Operations

export const operationList: readonly Operation[] = Object.values(operations)
