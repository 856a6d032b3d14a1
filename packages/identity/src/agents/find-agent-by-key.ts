import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { Agent } from './agent.ts'
import { isApiKey } from './api-key.ts'
import { loadAgentByFingerprint } from './store.ts'

/** One sentence for every way a key can be wrong, so that nothing is learnt from which. */
export const badApiKey = (): ApiError =>
  new ApiError(
    'unauthenticated',
    'This API key is not valid. Check it, or recover it as the agent’s owner.',
    {
      code: 'bad_api_key',
    },
  )

export async function findAgentByKey(ctx: Needs<'db' | 'vault'>, apiKey: string): Promise<Agent> {
  if (!isApiKey(apiKey)) throw badApiKey()
  const agent = await loadAgentByFingerprint(ctx.db, ctx.vault.fingerprint(apiKey))
  if (agent === undefined) throw badApiKey()
  return agent
}
