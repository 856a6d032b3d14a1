import type { Needs } from '@market/core/context'
import { type Agent, secretPlace } from './agent.ts'

export async function openWebhookSecret(ctx: Needs<'vault'>, agent: Agent): Promise<string | null> {
  if (agent.webhookSecretSealed === null) return null
  return ctx.vault.open(agent.webhookSecretSealed, secretPlace(agent.id, 'webhook_secret'))
}
