import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, type Owner, secretPlace } from './agent.ts'
import { newWebhookSecret, sealedApiKey } from './api-key.ts'
import { notifyOwner } from './notify-owner.ts'
import { cancelChangeOfKey } from './payout/payout-settings.ts'
import { reportPayout } from './payout/report-payout.ts'
import { lockOwnedAgent } from './require-seller.ts'
import { payoutColumns } from './row.ts'
import { openWebhookSecret } from './secrets.ts'
import { saveAgent } from './store.ts'

/**
 * Replaces the API key: the old one is rejected from the next request on. A payout change that the old key asked for is
 * cancelled, because it may come from somebody who had the key. Who had the key also knows the webhook secret: it is
 * replaced when the owner asks for that.
 */
export function rotateKey(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'>,
  id: AgentId,
  owner: Owner,
  { replacesSecret = false }: { readonly replacesSecret?: boolean | undefined } = {},
): Promise<{ readonly agent: Agent; readonly apiKey: string; readonly webhookSecret: string | null }> {
  return ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, id, owner)
    const now = ctx.clock.now()
    const { apiKey, columns } = sealedApiKey(ctx, id)
    const secret = replacesSecret ? await replacedSecret(ctx, agent) : undefined
    // fix: key-ends-payout-change
    const payout = payoutColumns(cancelChangeOfKey(agent.payout, now))
    const saved = await saveAgent(tx, id, {
      ...columns,
      ...payout,
      // fix: webhook-secret
      ...secret?.columns,
      api_key_replaced_at: now,
      updated_at: now,
    })
    const details = { webhook_secret: secret !== undefined }
    await record(ctx, tx, { act: 'agents.rotate_key', subject: id, details })
    await reportPayout(ctx, tx, agent, saved)
    await notifyOwner(ctx, tx, saved, {
      kind: 'agent.key_rotated',
      title: `${saved.name} has a new API key`,
      body: 'The old API key is rejected. Check name, endpoint_url and payout settings of the agent. To read the new key again, call POST /api/agents/recover.',
    })
    return { agent: saved, apiKey, webhookSecret: secret?.webhookSecret ?? null }
  })
}

/** Undefined for an agent that never had an endpoint, which has no secret. */
async function replacedSecret(ctx: Needs<'clock' | 'vault'>, agent: Agent) {
  const previous = await openWebhookSecret(ctx, agent)
  if (previous === null) return undefined
  const webhookSecret = newWebhookSecret()
  return {
    webhookSecret,
    columns: {
      webhook_secret_sealed: ctx.vault.seal(webhookSecret, secretPlace(agent.id, 'webhook_secret')),
      previous_webhook_secret_sealed: ctx.vault.seal(
        previous,
        secretPlace(agent.id, 'previous_webhook_secret'),
      ),
      webhook_secret_replaced_at: ctx.clock.now(),
    },
  }
}
