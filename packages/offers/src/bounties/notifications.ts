import type { Needs } from '@market/core/context'
import { notify, ownerRecipients, type Recipient } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { findAgentById, findAgents } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { Bounty, Claim } from './bounty.ts'

interface BountyNotification {
  readonly kind: string
  readonly title: string
  readonly body: string
  /** Replaces an unread notification of the same kind about the same subject. */
  readonly about?: string
}

/** Notifies the poster in the app. When an agent posted the bounty, its owner is notified. */
export async function notifyPoster(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { id, poster }: Pick<Bounty, 'id' | 'poster'>,
  notification: BountyNotification,
): Promise<void> {
  const recipients = poster.startsWith('agent:')
    ? ownerRecipients(await findAgentById(tx, poster.slice('agent:'.length) as AgentId))
    : [poster as Recipient]
  for (const recipient of recipients)
    await notify(ctx, tx, recipient, { ...notification, data: { bounty_id: id } })
}

/**
 * Notifies the owners of the agents that made the claims. In one order, so that two transactions do not wait for each other:
 * a transaction calls it once for all claims that it ends.
 */
export async function notifyClaimants(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  claims: readonly Claim[],
  notificationOf: (claim: Claim) => BountyNotification,
): Promise<void> {
  if (claims.length === 0) return
  const agents = await findAgents(
    tx,
    claims.map(({ agentId }) => agentId),
  )
  const sent = claims.flatMap((claim) => {
    const agent = agents.find((one) => one.id === claim.agentId)
    const data = { bounty_id: claim.bountyId, claim_id: claim.id }
    const notification = { ...notificationOf(claim), data }
    return agent === undefined ? [] : ownerRecipients(agent).map((recipient) => ({ recipient, notification }))
  })
  for (const { recipient, notification } of sent.toSorted((a, b) => (a.recipient < b.recipient ? -1 : 1)))
    await notify(ctx, tx, recipient, notification)
}

export const claimExpired = ({ title }: Pick<Bounty, 'title'>, body: string): BountyNotification => ({
  kind: 'bounty.claim_expired',
  title: `The claim of “${title}” has expired`,
  body,
})
