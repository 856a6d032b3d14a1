import { SCOPES, type Scope, withIncluded } from '@market/contract/scopes'
import type { Caller } from '@market/handlers/caller'
import type { Execute } from '@market/handlers/execute'
import { asApiError, failureOf } from '@market/handlers/failure'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { countMessages } from './batches.ts'
import { isOwnHost, isOwnOrigin } from './own-hosts.ts'
import { type PlainCall, plainCallOf } from './plain-call.ts'
import { runTool, type Session } from './run-tool.ts'
import { challenge, missingScopes } from './scopes.ts'
import { type Serve, serveEveryVersion, serveOneVersion } from './serve.ts'
import { ANONYMOUS_VERSION, anonymousServer, unifiedServer } from './servers.ts'
import { withTools } from './tool-lists.ts'
import { webRequest } from './web-request.ts'

export interface McpSettings {
  readonly execute: Execute
  /** Verifies a bearer credential. Counts against the limit of the address, and throws an `ApiError`. */
  readonly verify: (
    bearer: string | undefined,
    asked: { readonly address: string; readonly requestId: string },
  ) => Promise<Caller>
  /** Counts messages against the limit of their sender, and throws the 429 of it. */
  readonly count: (session: Session, messages: number) => Promise<void>
  /** Where clients find the authorization server; absent when there is none. */
  readonly resourceMetadataUrl?: string | undefined
  readonly nameOf: (caller: Caller) => string
  readonly baseUrl: string
  readonly appUrl: string
  /** Beside those of the URLs, for development. */
  readonly otherHosts: readonly string[]
  readonly addressOf: (request: FastifyRequest) => string
  /** Names the server, for logs and metrics. */
  readonly onRequest: (request: FastifyRequest, operation: string) => void
  readonly onCaller: (request: FastifyRequest, caller: Caller) => void
}

const PATH = '/mcp'
const ANONYMOUS_PATH = '/api/x402/mcp'
const OPERATIONS: Readonly<Record<string, string>> = { [PATH]: 'mcp', [ANONYMOUS_PATH]: 'anonymousMcp' }

/** Mounts the unified server, which any process can serve because it has no sessions, and the anonymous server. */
export function mountMcp(app: FastifyInstance, settings: McpSettings): void {
  const { baseUrl, appUrl } = settings
  const [baseHost, appHost] = [new URL(baseUrl).host, new URL(appUrl).host]
  const hosts = new Set([baseHost, appHost])
  const unified = serveEveryVersion((session) => unifiedServer(settings.execute, session))
  const anonymous = serveOneVersion(
    (session) => anonymousServer(settings.execute, session),
    ANONYMOUS_VERSION,
  )
  app.register(async (scope) => {
    scope.setErrorHandler((error: FastifyError | ApiError, request, reply) =>
      sendJsonRpcError(error, request, reply, settings.resourceMetadataUrl),
    )
    scope.addHook('onRequest', async (request, reply) => {
      settings.onRequest(request, OPERATIONS[request.routeOptions.url ?? ''] ?? 'mcp')
      if (!isOwnHost(request.headers.host, hosts, settings.otherHosts))
        return reply.code(403).send(jsonRpcError(-32_000, 'This host name is not served here.'))
      if (!isOwnOrigin(request.headers.origin, [baseUrl, appUrl]))
        return reply.code(403).send(jsonRpcError(-32_000, 'Pages of this origin may not call this server.'))
      return undefined
    })
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url: PATH,
      handler: async (request, reply) => {
        if (request.headers.host === baseHost && baseHost !== appHost)
          return reply.redirect(`${appUrl}${PATH}`, 308)
        const session = await sessionOf(request)
        // fix: mcp-messages
        await settings.count(session, countMessages(request.body))
        const granted = session.caller?.scopes ?? SCOPES
        const missing = missingScopes(request.body, granted)
        if (missing.length > 0) return rejectScopes(reply, missing, granted, settings.resourceMetadataUrl)
        const plain = request.method === 'POST' ? plainCallOf(request.headers, request.body) : undefined
        if (plain !== undefined) return sendPlain(reply, plain, settings.execute, session)
        return send(request, reply, unified, session)
      },
    })
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url: ANONYMOUS_PATH,
      handler: async (request, reply) => {
        const client = clientOf(request)
        await settings.count(client, countMessages(request.body))
        return send(request, reply, anonymous, client)
      },
    })
  })

  const clientOf = (request: FastifyRequest) => ({
    address: settings.addressOf(request),
    requestId: request.id,
  })

  /** Limits count the credential first, because hosted clients share addresses. */
  async function sessionOf(request: FastifyRequest): Promise<Session> {
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const asked = clientOf(request)
    const caller = await settings.verify(bearer, asked)
    const name = settings.nameOf(caller)
    settings.onCaller(request, caller)
    return { caller, address: name, client: asked.address, requestId: request.id }
  }
}

async function sendPlain(
  reply: FastifyReply,
  { tool, call, respond }: PlainCall,
  execute: Execute,
  session: Session,
): Promise<FastifyReply> {
  const result = await runTool(execute, session, tool, call)
  return reply.header('content-type', 'application/json').send(respond(result))
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  serve: Serve,
  session: Session,
): Promise<FastifyReply> {
  if (request.method !== 'POST')
    return reply.code(405).header('Allow', 'POST').send(jsonRpcError(-32_000, 'Send POST requests.'))
  const abort = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abort.abort()
  })
  const response = await serve(webRequest(request, abort.signal), request.body, session)
  // As a text, because streaming a short response costs several writes to the socket.
  return reply
    .code(response.status)
    .headers(Object.fromEntries(response.headers))
    .send(withTools(await response.text()))
}

/** The client asks the user for more, and repeats the request. */
function rejectScopes(
  reply: FastifyReply,
  missing: readonly Scope[],
  granted: readonly string[],
  metadataUrl: string | undefined,
) {
  const scopes = withIncluded([...granted, ...missing])
  return reply
    .code(403)
    .header('WWW-Authenticate', challenge(metadataUrl, { error: 'insufficient_scope', scopes }))
    .send(jsonRpcError(REJECTED, `This needs the scope ${missing.join(' ')}. Connect again and allow it.`))
}

const jsonRpcError = (code: number, message: string) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message },
})

const PARSE_ERROR = -32_700
const REJECTED = -32_000

/** Errors outside a JSON-RPC message, such as a missing credential or a body that is not JSON. */
function sendJsonRpcError(
  error: FastifyError | ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  metadataUrl: string | undefined,
) {
  if (!(error instanceof ApiError) && (error.statusCode ?? 500) >= 500) throw error
  const apiError = asApiError(error) ?? unreadable('statusCode' in error ? error.statusCode : undefined)
  const { status, headers } = failureOf(apiError, request.id)
  if (status === 401) reply.header('WWW-Authenticate', challenge(metadataUrl))
  return reply
    .code(status)
    .headers(headers)
    .send(jsonRpcError(status === 400 ? PARSE_ERROR : REJECTED, apiError.message))
}

/** The messages of Fastify's errors are internal, so they are replaced. */
function unreadable(status: number | undefined): ApiError {
  if (status === 413) return new ApiError('too_large', 'The body is larger than 256 KB')
  if (status === 415) return new ApiError('unsupported_media', 'Send the body as application/json')
  return new ApiError('invalid', 'The request could not be read')
}
