import type { Needs } from '@market/core/context'
import { notify, ownerRecipients } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import type { Agent } from './agent.ts'

interface AgentNotification {
  readonly kind: `agent.${string}`
  readonly title: string
  readonly body: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** What an owner does when somebody else has the API key. */
export const END_LEAK =
  'If you did not do this, call POST /api/agents/{agent_id}/rotate-key: the old API key stops at once, and a payout change that it asked for is cancelled.'

/** Notifies the owners of the agent in the app: the user and the owner wallet. An unread notification of the same kind is replaced. */
export async function notifyOwner(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  agent: Agent,
  { kind, title, body, data }: AgentNotification,
): Promise<void> {
  const notification = { kind, title, body, about: agent.id, data: { agent_id: agent.id, ...data } }
  for (const owner of ownerRecipients(agent)) await notify(ctx, tx, owner, notification)
}
