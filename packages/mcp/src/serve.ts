import {
  createMcpHandler,
  INVALID_REQUEST,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { batchError } from './batches.ts'
import type { Session } from './run-tool.ts'

type ServerOf = (session: Session) => Server
export type Serve = (request: Request, body: unknown, session: Session) => Promise<Response>

const VERSION = 'mcp-protocol-version'

/** Protocol 2026-07-28, and every older one, which begins with a handshake. */
export function serveEveryVersion(serverOf: ServerOf): Serve {
  const { fetch } = createMcpHandler(({ authInfo }) => serverOf(authInfo?.extra?.['session'] as Session), {
    legacy: 'reject',
    // No tool notifies during its call, so every response is plain JSON.
    // The list of tools never changes, so nobody needs to wait for that.
    maxSubscriptions: 0,
  })
  return async (request, body, session) => {
    const rejected = batchError(body, request.headers.get(VERSION))
    if (rejected !== undefined) return invalidRequest(rejected)
    if (await isLegacyRequest(request, body)) return serveOlder(request, body, serverOf(session))
    const authInfo = { token: '', clientId: '', scopes: [], extra: { session } }
    return fetch(request, { parsedBody: body, authInfo })
  }
}

/** One old protocol, whatever version the client names in a header. */
export const serveOneVersion =
  (serverOf: ServerOf, version: string): Serve =>
  async (request, body, session) => {
    const rejected = batchError(body, version)
    if (rejected !== undefined) return invalidRequest(rejected)
    request.headers.delete(VERSION)
    return serveOlder(request, body, serverOf(session))
  }

const invalidRequest = (message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } }, { status: 400 })

/** Plain JSON instead of a stream with one event. */
async function serveOlder(request: Request, body: unknown, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: body })
  } finally {
    void server.close()
  }
}
