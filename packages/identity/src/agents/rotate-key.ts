import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { AgentId } from '@market/kernel/ids'
import type { Agent, Owner } from './agent.ts'
import { sealedApiKey } from './api-key.ts'
import { notifyOwner } from './notify-owner.ts'
import { cancelChangeOfKey } from './payout/payout-settings.ts'
import { reportPayout } from './payout/report-payout.ts'
import { lockOwnedAgent } from './require-seller.ts'
import { payoutColumns } from './row.ts'
import { saveAgent } from './store.ts'

/**
 * Replaces the API key: the old one is rejected from the next request on. A payout change that the old key asked for is
 * cancelled, because it may come from somebody who had the key.
 */
export function rotateKey(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'>,
  id: AgentId,
  owner: Owner,
): Promise<{ readonly agent: Agent; readonly apiKey: string }> {
  return ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, id, owner)
    const now = ctx.clock.now()
    const { apiKey, columns } = sealedApiKey(ctx, id)
    // fix: key-ends-payout-change
    const payout = payoutColumns(cancelChangeOfKey(agent.payout, now))
    const saved = await saveAgent(tx, id, {
      ...columns,
      ...payout,
      api_key_replaced_at: now,
      updated_at: now,
    })
    await record(ctx, tx, { act: 'agents.rotate_key', subject: id })
    await reportPayout(ctx, tx, agent, saved)
    await notifyOwner(ctx, tx, saved, {
      kind: 'agent.key_rotated',
      title: `${saved.name} has a new API key`,
      body: 'The old API key is rejected. Check name, endpoint_url and payout settings of the agent. To read the new key again, call POST /api/agents/recover.',
    })
    return { agent: saved, apiKey }
  })
}
