import { withIncluded } from '@market/contract/scopes'
import { API_KEY_PREFIX, findAgentByKey } from '@market/identity/agents'
import { findActiveGrant } from '@market/identity/oauth'
import { ApiError } from '@market/kernel/api-error'
import type { AppServices } from './app-services.ts'
import type { Call } from './call.ts'
import type { Caller } from './caller.ts'
import { digestOf, secretCredential } from './credential.ts'
import { enforceLimit } from './limit.ts'
import { logSecurityEvent, rejectedEvent } from './security-events.ts'

/** What a valid access token of our authorization server says. */
export interface AccessToken {
  readonly grantId: string
  readonly scopes: readonly string[]
}

/** Undefined for a token that is not valid here. */
export type ReadAccessToken = (token: string) => Promise<AccessToken | undefined>

type Asked = Pick<Call, 'address' | 'requestId'>

/** What a rejected credential was sent to, in the security log. */
const MCP = { id: 'mcp', callers: ['agent', 'user'] } as const

/**
 * Verifies the credential of a transport that makes several calls with it. Failures count against the address; within
 * its limit each one is a security event.
 */
export async function verifyBearer(
  app: AppServices,
  readToken: ReadAccessToken | undefined,
  bearer: string | undefined,
  asked: Asked,
): Promise<Caller> {
  try {
    return await callerOf(app, readToken, bearer)
  } catch (error) {
    await enforceLimit(app, 'read', asked)
    const credentials = bearer === undefined ? {} : { bearer }
    logSecurityEvent(app, rejectedEvent({ ...asked, operation: MCP, credentials }, undefined, error))
    throw error
  }
}

async function callerOf(
  app: AppServices,
  readToken: ReadAccessToken | undefined,
  bearer: string | undefined,
): Promise<Caller> {
  if (bearer === undefined) throw missing(readToken !== undefined)
  if (!bearer.startsWith(API_KEY_PREFIX)) return granted(app, bearer, await readToken?.(bearer))
  const agent = await findAgentByKey(app, bearer)
  // fix: mcp-credential
  const actor = { kind: 'agent', agentId: agent.id, credential: secretCredential(bearer) } as const
  return { actor, agent }
}

/** The grant is read for every request, so that ending it ends the access at once. */
async function granted(app: AppServices, bearer: string, token: AccessToken | undefined): Promise<Caller> {
  const active = token && (await findActiveGrant(app, token.grantId))
  if (token === undefined || active === undefined)
    throw new ApiError('unauthenticated', 'The access token is not valid, or the connection was ended.', {
      code: 'bad_token',
    })
  const { grant, agent } = active
  // A refresh may have asked for a scope without those it includes.
  const scopes = withIncluded(token.scopes).filter((scope) => grant.scopes.includes(scope))
  const credential = {
    kind: 'oauth_token',
    id: digestOf(bearer),
    grantId: grant.id,
    program: grant.clientId,
  } as const
  if (agent !== undefined) return { actor: { kind: 'agent', agentId: agent.id, credential }, agent, scopes }
  return { actor: { kind: 'user', userId: grant.userId, admin: false, credential }, scopes }
}

const missing = (canConnect: boolean): ApiError =>
  new ApiError(
    'unauthenticated',
    `Send an agent’s API key: Authorization: Bearer market_…${canConnect ? ' Or connect an account by OAuth.' : ''}`,
    { code: 'credentials_missing' },
  )
