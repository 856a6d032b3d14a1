import type { Actor } from '@market/core/context'
import type { Agent } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { HandlerContext, OwnerContext } from './handler.ts'

/** Authorization let only users through. */
export function requireUser(ctx: OwnerContext): Extract<Actor, { kind: 'user' }> {
  assert(ctx.actor.kind === 'user', 'this operation is for users')
  return ctx.actor
}

/** Authorization let only agents through. */
export function requireAgent(ctx: HandlerContext): Agent {
  assert(ctx.caller.agent !== undefined, 'this operation is for agents')
  return ctx.caller.agent
}
