import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import { type Resealed, reseal } from '@market/core/reseal'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, secretPlace } from './agent.ts'
import { findAgentById } from './get-agent.ts'
import type { Registered } from './register-agent.ts'
import { findSecretsAfter, replaceSecrets } from './store.ts'

export async function openWebhookSecret(ctx: Needs<'vault'>, agent: Agent): Promise<string | null> {
  if (agent.webhookSecretSealed === null) return null
  return ctx.vault.open(agent.webhookSecretSealed, secretPlace(agent.id, 'webhook_secret'))
}

/** Opens the secrets that the registration returned, for a replay of that request. */
export async function openSecrets(ctx: Needs<'db' | 'vault'>, id: AgentId): Promise<Registered> {
  const agent = await findAgentById(ctx.db, id)
  return {
    agent,
    apiKey: await ctx.vault.open(agent.apiKeySealed, secretPlace(id, 'api_key')),
    webhookSecret: await openWebhookSecret(ctx, agent),
    solanaAddress: (await findWalletAddress(ctx.db, id, 'solana')) ?? '',
  }
}

/** Seals the API keys and webhook secrets of all agents with the vault's current key. */
export async function resealAgents(ctx: Needs<'db' | 'vault'>): Promise<Resealed[]> {
  return [await resealColumn(ctx, 'api_key'), await resealColumn(ctx, 'webhook_secret')]
}

const resealColumn = (ctx: Needs<'db' | 'vault'>, field: 'api_key' | 'webhook_secret'): Promise<Resealed> =>
  reseal<AgentId>(ctx, {
    name: `agents.${field}_sealed`,
    placeOf: (id) => secretPlace(id, field),
    find: (after, limit) => findSecretsAfter(ctx.db, `${field}_sealed`, after, limit),
    replace: (changes) => replaceSecrets(ctx.db, `${field}_sealed`, changes),
  })
