import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import { type Resealed, renewedBy, reseal } from '@market/core/reseal'
import { HOUR, later } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, type SecretField, secretPlace } from './agent.ts'
import { findAgentById } from './get-agent.ts'
import type { Registered } from './register-agent.ts'
import { type FingerprintKey, findFingerprintsAfter, findSecretsAfter, replaceSecrets } from './store.ts'

export async function openWebhookSecret(ctx: Needs<'vault'>, agent: Agent): Promise<string | null> {
  if (agent.webhookSecretSealed === null) return null
  return ctx.vault.open(agent.webhookSecretSealed, secretPlace(agent.id, 'webhook_secret'))
}

/** Sellers have this time to use a new secret. */
const PREVIOUS_VALID_MS = HOUR

/** The secrets that sign a webhook now: the present one, and for an hour the one before it. */
export interface WebhookSecrets {
  readonly current: string | null
  readonly previous: string | null
}

export async function openWebhookSecrets(
  ctx: Needs<'vault' | 'clock'>,
  agent: Agent,
): Promise<WebhookSecrets> {
  const { previousWebhookSecret: replaced } = agent
  const isValid = replaced !== null && later(replaced.replacedAt, PREVIOUS_VALID_MS) > ctx.clock.now()
  return {
    current: await openWebhookSecret(ctx, agent),
    previous: isValid
      ? await ctx.vault.open(replaced.sealed, secretPlace(agent.id, 'previous_webhook_secret'))
      : null,
  }
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

/**
 * Seals the API keys and webhook secrets of all agents with the vault's current key, and makes the fingerprints of the API
 * keys again with the current hash key.
 */
export async function resealAgents(ctx: Needs<'db' | 'vault'>): Promise<Resealed[]> {
  return [
    await resealColumn(ctx, 'api_key'),
    await resealColumn(ctx, 'webhook_secret'),
    await resealColumn(ctx, 'previous_webhook_secret'),
    await renewFingerprints(ctx),
  ]
}

function resealColumn(ctx: Needs<'db' | 'vault'>, field: SecretField): Promise<Resealed> {
  const placeOf = (id: AgentId) => secretPlace(id, field)
  return reseal<AgentId>({
    name: `agents.${field}_sealed`,
    placeOf,
    renew: renewedBy(ctx, placeOf),
    find: (after, limit) => findSecretsAfter(ctx.db, `${field}_sealed`, after, limit),
    replace: (changes) => replaceSecrets(ctx.db, `${field}_sealed`, changes),
  })
}

/** A fingerprint does not name its key, so each one is compared with the fingerprint of its API key. */
const renewFingerprints = (ctx: Needs<'db' | 'vault'>): Promise<Resealed> =>
  reseal<FingerprintKey>({
    name: 'agents.api_key_fingerprint',
    placeOf: ({ id }) => secretPlace(id, 'api_key'),
    renew: async (fingerprint, { id, apiKeySealed }) => {
      const apiKey = await ctx.vault.open(apiKeySealed, secretPlace(id, 'api_key'))
      const fresh = ctx.vault.fingerprint('api_key', apiKey)
      return fresh.equals(fingerprint) ? undefined : fresh
    },
    find: (after, limit) => findFingerprintsAfter(ctx.db, after, limit),
    replace: (changes) =>
      replaceSecrets(
        ctx.db,
        'api_key_fingerprint',
        changes.map((change) => ({ ...change, key: change.key.id })),
      ),
  })
