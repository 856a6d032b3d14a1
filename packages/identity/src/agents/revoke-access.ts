import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { sealedApiKey } from './api-key.ts'
import { NO_PAYOUT } from './payout/payout-settings.ts'
import { payoutColumns } from './row.ts'
import { saveAgent } from './store.ts'

/**
 * Replaces the API key and removes the endpoint and the payout addresses, so that whoever had the key can no longer act
 * as the agent or receive its money and events. The owner keeps the agent and recovers the new key.
 */
export async function revokeAccess(ctx: Needs<'clock' | 'vault'>, tx: Tx, id: AgentId): Promise<void> {
  const now = ctx.clock.now()
  await saveAgent(tx, id, {
    ...sealedApiKey(ctx, id).columns,
    ...payoutColumns(NO_PAYOUT),
    endpoint_url: null,
    endpoint_proven_at: null,
    // Setting an endpoint again creates another secret.
    webhook_secret_sealed: null,
    previous_webhook_secret_sealed: null,
    webhook_secret_replaced_at: null,
    api_key_replaced_at: now,
    updated_at: now,
  })
}
