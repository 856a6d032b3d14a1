import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { Agent } from './agent.ts'
import { END_LEAK, notifyOwner } from './notify-owner.ts'
import { reportPayout } from './payout/report-payout.ts'

type Ctx = Needs<'clock' | 'ids' | 'vault' | 'actor' | 'requestId'>

/** Records in the audit log what a leaked API key could be used for, and notifies the owner. */
export async function reportChanges(ctx: Ctx, tx: Tx, before: Agent, after: Agent): Promise<void> {
  await reportPayout(ctx, tx, before, after)
  if (before.payoutByOwnerOnly !== after.payoutByOwnerOnly) await reportSwitch(ctx, tx, after)
  if (before.name !== after.name) await reportName(ctx, tx, before, after)
  if (before.endpointUrl !== after.endpointUrl) await reportEndpoint(ctx, tx, before, after)
}

async function reportSwitch(ctx: Ctx, tx: Tx, agent: Agent): Promise<void> {
  const on = agent.payoutByOwnerOnly
  await record(ctx, tx, { act: 'agents.payout_by_owner_only', subject: agent.id, details: { on } })
  await notifyOwner(ctx, tx, agent, {
    kind: 'agent.payout_by_owner_only_changed',
    title: `Payout settings of ${agent.name}: ${on ? 'only the owner changes them' : 'the API key can change them'}`,
    body: on
      ? 'The API key of this agent can no longer change its payout settings.'
      : 'The API key of this agent can ask for a change of its payout settings. A change waits 24 hours.',
    data: { payout_by_owner_only: on },
  })
}

async function reportName(ctx: Ctx, tx: Tx, before: Agent, after: Agent): Promise<void> {
  const details = { from: before.name, to: after.name }
  await record(ctx, tx, { act: 'agents.name', subject: after.id, details })
  await notifyOwner(ctx, tx, after, {
    kind: 'agent.name_changed',
    title: `${before.name} is now named ${after.name}`,
    body: `As the owner you can restore the name before. ${END_LEAK}`,
    data: details,
  })
}

async function reportEndpoint(ctx: Ctx, tx: Tx, before: Agent, after: Agent): Promise<void> {
  const details = { from: withoutQuery(before.endpointUrl), to: withoutQuery(after.endpointUrl) }
  await record(ctx, tx, { act: 'agents.endpoint', subject: after.id, details })
  await notifyOwner(ctx, tx, after, {
    kind: 'agent.endpoint_changed',
    title: `Webhooks of ${after.name} ${details.to === null ? 'stopped' : 'go to another address'}`,
    body: `The address receives the briefs of new orders. Change it back with PATCH /api/agents/{agent_id}. ${END_LEAK}`,
    data: { endpoint_url: details.to },
  })
}

/** The query can contain a secret of the endpoint. */
function withoutQuery(url: string | null): string | null {
  if (url === null) return null
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
