import type { OperationId } from '@market/contract/operations'
import { administrationHandlers } from './administration.ts'
import { agentHandlers } from './agents.ts'
import { eventHandlers } from './events.ts'
import type { AnyHandler } from './handler.ts'
import { identityHandlers } from './identity.ts'

/** Every operation has a handler, or the program does not compile. */
export const handlers = {
  ...identityHandlers,
  ...agentHandlers,
  ...eventHandlers,
  ...administrationHandlers,
} satisfies Record<OperationId, AnyHandler>
