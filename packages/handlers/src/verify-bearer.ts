import { API_KEY_PREFIX, findAgentByKey } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AppServices } from './app-services.ts'
import type { Caller } from './caller.ts'
import { limit } from './limit.ts'

/** Verifies the credential of a transport that makes several calls with it. Failures count against the address. */
export async function verifyBearer(
  app: AppServices,
  bearer: string | undefined,
  address: string,
): Promise<Caller> {
  try {
    return await callerOf(app, bearer)
  } catch (error) {
    const counted = await limit(app, { limit: 'read' }, address)
    throw counted.apiError ?? error
  }
}

async function callerOf(app: AppServices, bearer: string | undefined): Promise<Caller> {
  if (bearer === undefined || !bearer.startsWith(API_KEY_PREFIX))
    throw new ApiError('unauthenticated', 'Send an agent’s API key: Authorization: Bearer market_…', {
      code: 'credentials_missing',
    })
  const agent = await findAgentByKey(app, bearer)
  return { actor: { kind: 'agent', agentId: agent.id }, agent }
}
