import { randomBytes } from 'node:crypto'
import { SCOPES } from '@market/contract/scopes'
import type { OAuthKeys, OAuthService } from '@market/handlers/oauth'
import {
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { contentPolicy, errorPage } from '../pages/page.ts'
import { adapterFor } from './adapter.ts'
import { PATHS, REQUEST_ID } from './paths.ts'
import { isNative } from './redirect.ts'
import { requestIn } from './requests.ts'

export interface ProviderSettings {
  readonly service: OAuthService
  /** The issuer: without a path, because clients look for its metadata at the root. */
  readonly appUrl: string
  /** The audience of access tokens. */
  readonly resource: string
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE
const ACCESS_TOKEN_SECONDS = 15 * MINUTE
const FETCH_MS = 2_500

/** The authorization server, with the keys of now. */
export function createProvider(
  settings: ProviderSettings,
  keys: readonly [OAuthKeys, ...OAuthKeys[]],
): Provider {
  const provider = new Provider(settings.appUrl, configuration(settings, keys))
  // The headers of proxies are overwritten before the provider reads them.
  provider.proxy = true
  // Otherwise its errors would be neither logged nor counted.
  // fix: oauth-faults
  provider.on('server_error', (ctx, error) => settings.service.onFault(error, ctx.get(REQUEST_ID)))
  const events: NodeJS.EventEmitter = provider
  // Errors outside its own handling. A client that disconnects is none.
  // fix: oauth-other-faults
  events.on('error', (error: Error, ctx: KoaContextWithOIDC) => {
    if (!ctx.res.destroyed) settings.service.onFault(error, ctx.get(REQUEST_ID))
  })
  // fix: oauth-registered
  provider.on('registration_create.success', (ctx, { clientId: id, clientName: name }) =>
    settings.service.registered(requestIn(ctx), { id, name }),
  )
  return provider
}

function configuration(
  { service, resource }: ProviderSettings,
  keys: readonly [OAuthKeys, ...OAuthKeys[]],
): Configuration {
  const cookie = { signed: true, httpOnly: true, sameSite: 'lax' } as const
  return {
    adapter: adapterFor(service),
    fetch: (url, options) => fetchDocument(service, String(url), options?.method),
    jwks: { keys: keys.map(({ signing }) => signing) as never },
    cookies: {
      keys: keys.map(({ cookies }) => cookies),
      names: { session: '_oauth_session', interaction: '_oauth_interaction', resume: '_oauth_resume' },
      long: cookie,
      short: cookie,
    },
    routes: {
      authorization: PATHS.authorize,
      token: PATHS.token,
      registration: PATHS.register,
      revocation: PATHS.revoke,
      jwks: PATHS.jwks,
    },
    interactions: { url: (_ctx, { uid }) => `${PATHS.interaction}/${uid}`, policy: loginEveryTime() },
    responseTypes: ['code'],
    scopes: ['openid', 'offline_access', ...SCOPES],
    clientDefaults: {
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    // PKCE proves that a code is redeemed by who asked for it, so no secret of a program is stored.
    clientAuthMethods: ['none'],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: MINUTE,
      Grant: 90 * DAY,
      IdToken: 10 * MINUTE,
      Interaction: 10 * MINUTE,
      RefreshToken: 30 * DAY,
      Session: MINUTE,
    },
    findAccount: async (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    extraTokenClaims: async (_ctx, token) =>
      'grantId' in token && token.grantId !== undefined ? { grant_id: token.grantId } : undefined,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      revocation: { enabled: true },
      registration: { enabled: true, idFactory: newClientId },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, indicator) => {
          if (indicator !== resource) throw new errors.InvalidTarget()
          return {
            scope: SCOPES.join(' '),
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    extraClientMetadata: {
      properties: ['market_policy'],
      validator: (_ctx, _key, _value, metadata) => adaptClient(metadata),
    },
    clientBasedCORS: () => true,
    renderError: async (ctx, out) => {
      ctx.type = 'html'
      ctx.set('Content-Security-Policy', contentPolicy())
      ctx.body = errorPage(out.error_description ?? out.error)
    },
  } as Configuration
}

/** Who connects a program signs in for that. The identity provider remembers its users, so that it is one click. */
function loginEveryTime() {
  const policy = interactionPolicy.base()
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check('every_time', 'Sign in', (ctx) => ctx.oidc.result?.login === undefined),
    )
  return policy
}

/** The bytes that a registration, and the `state` of a request, may have: each is stored. */
export const MAX_BYTES = 2_048

/** RFC 7591 lets the server replace what was asked for: every client is public. */
const newClientId = (ctx: { oidc: { body?: unknown } }): string => {
  const body = ctx.oidc.body as Record<string, unknown>
  const bytes = Buffer.byteLength(JSON.stringify(body))
  // fix: metadata-size
  if (bytes > MAX_BYTES)
    throw new errors.InvalidClientMetadata(
      `the metadata has ${bytes} bytes, at most ${MAX_BYTES} are allowed`,
    )
  body['token_endpoint_auth_method'] = 'none'
  return randomBytes(24).toString('base64url')
}

const GRANT_TYPES = new Set(['authorization_code', 'refresh_token'])

/** Runs for registered clients and for metadata documents. */
function adaptClient(metadata: ClientMetadata): void {
  // It would limit what the client may ask for later.
  delete metadata.scope
  // The port of a loopback address is free only for native clients (RFC 8252), and many clients do not say what they are.
  // Their plain http is for loopback addresses only: others could read a code that is sent to another computer.
  const uris = Array.isArray(metadata.redirect_uris) ? metadata.redirect_uris.map(String) : []
  // fix: http-redirect
  if (uris.some(isNative)) metadata.application_type = 'native'
  // RFC 7591 lets the server narrow what was asked for.
  if (Array.isArray(metadata.grant_types))
    metadata.grant_types = metadata.grant_types.filter((type) => GRANT_TYPES.has(type))
}

/** Documents of clients are fetched like webhooks are sent: only from public addresses, and without redirects. */
async function fetchDocument(
  service: OAuthService,
  url: string,
  method: string | undefined,
): Promise<Response> {
  if (method !== 'GET') throw new Error('only documents are fetched')
  const { status, body } = await service.fetchDocument(url, FETCH_MS)
  return status === 200 ? new Response(body) : new Response(null, { status: 502 })
}
