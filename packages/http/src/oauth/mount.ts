import { FIRST_SCOPE, SCOPES } from '@market/contract/scopes'
import { failureOf } from '@market/handlers/failure'
import type { ReadAccessToken } from '@market/handlers/verify-bearer'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from 'oidc-provider'
import { errorPage, sendPage } from '../pages/page.ts'
import { readAccessToken } from './access-token.ts'
import { mountConnections } from './connections.ts'
import { type CurrentProvider, currentProvider, type OAuthSettings } from './current-provider.ts'
import { ended } from './ended.ts'
import { mountInteractions } from './interactions.ts'
import { mountLogin } from './login.ts'
import { PATHS, REQUEST_ID } from './paths.ts'
import { MAX_BYTES } from './provider.ts'
import { nameOperation } from './requests.ts'
import { requestedScopes } from './scopes.ts'

export interface OAuth {
  readonly readToken: ReadAccessToken
  /** Where clients learn how to get a token. */
  readonly resourceMetadataUrl: string
}

const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** The authorization server: its endpoints, the pages on which users sign in and allow, and the metadata of the resource. */
export function mountOAuth(app: FastifyInstance, settings: OAuthSettings): OAuth {
  const { appUrl, resource, service, addressOf } = settings
  const current = currentProvider(settings)
  const limited = (name: 'read' | 'oauth.register' | 'oauth.authorize') => (request: FastifyRequest) =>
    service.limit(name, addressOf(request))

  app.register(async (scope) => {
    // The provider reads the body itself.
    scope.removeAllContentTypeParsers()
    scope.addHook('onRequest', nameOperation)
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    const pass = (request: FastifyRequest, reply: FastifyReply) => passOn(request, reply, settings, current)
    const reads = { preHandler: limited('read') }
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])
      scope.get(path, reads, pass)
    scope.get(PATHS.jwks, reads, pass)
    scope.get(PATHS.authorize, { preHandler: limited('oauth.authorize') }, async (request, reply) => {
      const rejected = tooLong(request.url)
      return rejected === undefined
        ? pass(request, reply)
        : sendPage(reply, errorPage(rejected), { status: 400 })
    })
    scope.get(`${PATHS.authorize}/:uid`, reads, pass)
    scope.post(PATHS.token, reads, pass)
    scope.post(PATHS.revoke, reads, pass)
    scope.post(PATHS.register, { preHandler: limited('oauth.register') }, pass)
  })

  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: FastifyRequest, body: string | Buffer) => readForm(String(body)),
    )
    scope.addHook('onRequest', async (request) => {
      await nameOperation(request)
      pinHost(request, settings)
    })
    scope.setErrorHandler(sendErrorPage)
    mountInteractions(scope, settings, current)
    mountConnections(scope, settings)
    mountLogin(scope, settings, current)
  })

  const metadata = {
    resource,
    resource_name: 'Agent Market',
    authorization_servers: [appUrl],
    scopes_supported: [FIRST_SCOPE],
    bearer_methods_supported: ['header'],
  }
  const path = new URL(resource).pathname
  for (const url of [METADATA_PATH, `${METADATA_PATH}${path}`]) app.get(url, () => metadata)

  return {
    resourceMetadataUrl: `${appUrl}${METADATA_PATH}${path}`,
    readToken: async (token) => {
      const { keys } = await current()
      return readAccessToken(token, keys, { issuer: appUrl, audience: resource })
    },
  }
}

/** Postgres stores no text with NUL, so no form of ours contains it. */
function readForm(body: string): Record<string, string> {
  const fields = new URLSearchParams(body)
  if ([...fields.values()].some((value) => value.includes('\0')))
    throw new ApiError('invalid', 'A field contains a NUL character.')
  return Object.fromEntries(fields)
}

/** The provider builds its URLs from these headers, whatever a client or a proxy sent. */
function pinHost(request: FastifyRequest, { appUrl, addressOf }: OAuthSettings): void {
  const { host, protocol } = new URL(appUrl)
  Object.assign(request.raw.headers, {
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-for': addressOf(request),
    [REQUEST_ID]: request.id,
  })
}

async function passOn(
  request: FastifyRequest,
  reply: FastifyReply,
  settings: OAuthSettings,
  current: CurrentProvider,
): Promise<void> {
  const { respond } = await current()
  pinHost(request, settings)
  request.raw.url = withScope(request.url)
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value)
  reply.hijack()
  await respond(request.raw, reply.raw)
}

/** Long enough for the longest `state`, `redirect_uri` and what else a request needs. */
const MAX_QUERY_BYTES = 3 * MAX_BYTES

/** Why a request for an authorization is not stored, or undefined. */
function tooLong(path: string): string | undefined {
  const { search, searchParams } = new URL(path, 'http://any')
  const state = Buffer.byteLength(searchParams.get('state') ?? '')
  if (state > MAX_BYTES) return `state has ${state} bytes. At most ${MAX_BYTES} are allowed.`
  if (search.length > MAX_QUERY_BYTES)
    return `The query has ${search.length} bytes. At most ${MAX_QUERY_BYTES} are allowed.`
  return undefined
}

/** A request asks for at least the first scope, and for those that its scopes include. */
function withScope(path: string): string {
  const url = new URL(path, 'http://any')
  if (url.pathname !== PATHS.authorize || !url.searchParams.has('client_id')) return path
  const asked = url.searchParams.get('scope') ?? ''
  const others = asked.split(' ').filter((word) => !SCOPES.some((scope) => scope === word))
  url.searchParams.set('scope', [...others, ...requestedScopes(asked)].join(' ').trim())
  return `${url.pathname}${url.search}`
}

function sendErrorPage(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply) {
  const apiError = error instanceof errors.SessionNotFound ? ended() : error
  if (!(apiError instanceof ApiError)) throw error
  const { status, headers } = failureOf(apiError, request.id)
  reply.headers(headers)
  return sendPage(reply, errorPage(apiError.message), { status })
}
