import { deleteActivityOf } from '@market/core/activity'
import type { Needs } from '@market/core/context'
import { addStatistics } from '@market/core/statistics'
import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { revokeAccess } from './revoke-access.ts'
import { saveClosed, saveHandle } from './store.ts'

/**
 * Stops the agents of a user who deletes the account: their API keys, webhooks and payout addresses end, and the user's
 * handle is removed from every agent that showed it. They leave the activity feed and the figures. An agent that only a wallet owns stays with its wallet.
 */
export async function closeAgents(
  ctx: Needs<'clock' | 'vault'>,
  tx: Tx,
  owner: { readonly userId: string; readonly wallets: readonly string[] },
  agentIds: readonly AgentId[],
): Promise<void> {
  const wallets = owner.wallets.map((key) => ({ key }))
  const now = ctx.clock.now()
  await saveHandle(tx, { userId: owner.userId, wallets }, null, now)
  for (const id of agentIds) {
    await revokeAccess(ctx, tx, id)
    if (await saveClosed(tx, id, now)) await addStatistics(tx, { name: 'agents', amount: -1n })
    await deleteActivityOf(tx, id)
  }
}
