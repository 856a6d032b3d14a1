import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { findAgentById, notifyOwner } from '@market/identity/agents'
import { later } from '@market/kernel/clock'
import { findUnnotified, startDelay } from './store.ts'
import { WITHDRAW_DELAY_MS } from './withdraw-address.ts'

const AT_ONCE = 100

/**
 * Notifies the owners of new withdraw addresses and starts their 24 hours, in a table that only the worker writes. An address
 * that was written around the api waits from here, too.
 */
export async function startWithdrawDelays(ctx: Needs<'db' | 'clock' | 'ids'>): Promise<void> {
  for (const { id, agentId, address } of await findUnnotified(ctx.db, AT_ONCE))
    await transact(ctx.db, async (tx) => {
      const now = ctx.clock.now()
      if (!(await startDelay(tx, id, now))) return
      const agent = await findAgentById(tx, agentId)
      // fix: worker-notifies-withdraw-address
      await notifyOwner(ctx, tx, agent, {
        kind: 'agent.withdraw_address_set',
        title: `New withdraw address of ${agent.name}`,
        body: `From ${later(now, WITHDRAW_DELAY_MS).toISOString()} on, the agent can withdraw to ${address}. If you did not do this, cancel it: DELETE /api/agents/${agentId}/withdraw-address.`,
        data: { address },
      })
    })
}
