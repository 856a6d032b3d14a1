import type { Needs } from '@market/core/context'
import { type Resealed, reseal } from '@market/core/reseal'
import type { AgentId } from '@market/kernel/ids'
import { secretPlace } from './agent.ts'
import { findSecretsAfter, replaceSecrets } from './store.ts'

/** Brings the keys and the webhook secrets of all agents under the vault's current key. */
export async function resealAgents(ctx: Needs<'db' | 'vault'>): Promise<Resealed[]> {
  return [await resealSecrets(ctx, 'api_key'), await resealSecrets(ctx, 'webhook_secret')]
}

const resealSecrets = (ctx: Needs<'db' | 'vault'>, field: 'api_key' | 'webhook_secret'): Promise<Resealed> =>
  reseal<AgentId>(ctx, {
    name: `agents.${field}_sealed`,
    placeOf: (id) => secretPlace(id, field),
    find: (after, limit) => findSecretsAfter(ctx.db, `${field}_sealed`, after, limit),
    replace: (changes) => replaceSecrets(ctx.db, `${field}_sealed`, changes),
  })
