import { digestOf } from '@market/handlers/credential'
import type { OAuthRequest, ProgramRequest } from '@market/handlers/oauth'
import type { FastifyRequest } from 'fastify'
import { type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { PATHS, REQUEST_ID } from './paths.ts'

/** What logs and metrics call the routes. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/.well-known/oauth-authorization-server': 'oauthMetadata',
  '/.well-known/openid-configuration': 'oauthMetadata',
  [PATHS.jwks]: 'oauthKeys',
  [PATHS.authorize]: 'oauthAuthorize',
  [`${PATHS.authorize}/:uid`]: 'oauthAuthorize',
  [PATHS.token]: 'oauthToken',
  [PATHS.revoke]: 'oauthRevoke',
  [PATHS.register]: 'oauthRegister',
  [PATHS.login]: 'login',
  [PATHS.callback]: 'login',
  [PATHS.logout]: 'logout',
  [`${PATHS.interaction}/:uid/login`]: 'oauthLogin',
  [PATHS.connections]: 'oauthConnections',
  [`${PATHS.connections}/end`]: 'oauthEndConnection',
}

/** Names the route in the request log and the metrics. */
export async function nameOperation(request: FastifyRequest): Promise<void> {
  // fix: oauth-operation
  request.operation = OPERATIONS[request.routeOptions.url ?? ''] ?? 'oauthConsent'
}

/** A visit of a page by a user who signed in for it. `session` is what the browser proves that with. */
export const pageRequest = (
  request: FastifyRequest,
  addressOf: (request: FastifyRequest) => string,
  session: string,
): OAuthRequest => ({
  operation: request.operation ?? 'oauthConsent',
  client: addressOf(request),
  requestId: request.id,
  credential: { kind: 'login', id: digestOf(session) },
})

/** The headers were written by `pinHost`. */
export const requestIn = (ctx: KoaContextWithOIDC): OAuthRequest => ({
  operation: OPERATIONS[ctx.path] ?? 'oauth',
  client: ctx.get('x-forwarded-for'),
  requestId: ctx.get(REQUEST_ID),
})

/** The request that the provider is working on, with the grant of the code or token that it sent. */
export function currentRequest(): ProgramRequest & { readonly grantId: string | undefined } {
  const ctx = Provider.ctx
  if (ctx === undefined) throw new Error('the provider works on a request')
  const { params = {}, client, entities } = ctx.oidc
  const secret = params['refresh_token'] ?? params['code'] ?? params['token']
  return {
    ...requestIn(ctx),
    program: client?.clientId,
    sent: params['grant_type'] === 'authorization_code' ? 'code' : 'refresh_token',
    secret: typeof secret === 'string' ? secret : undefined,
    grantId: entities.RefreshToken?.grantId ?? entities.AuthorizationCode?.grantId,
  }
}
