import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import type { AgentId } from '@market/kernel/ids'
import { secretPlace } from './agent.ts'
import { findAgentById } from './find-agent-by-id.ts'
import { openWebhookSecret } from './open-webhook-secret.ts'
import type { Registered } from './register-agent.ts'

/** What whoever registered an agent was shown, again. */
export async function openSecrets(ctx: Needs<'db' | 'vault'>, id: AgentId): Promise<Registered> {
  const agent = await findAgentById(ctx.db, id)
  return {
    agent,
    apiKey: await ctx.vault.open(agent.apiKeySealed, secretPlace(id, 'api_key')),
    webhookSecret: await openWebhookSecret(ctx, agent),
    solanaAddress: (await findWalletAddress(ctx.db, id, 'solana')) ?? '',
  }
}
