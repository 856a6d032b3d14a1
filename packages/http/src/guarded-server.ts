import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { failureOf } from '@market/handlers/failure'
import { limitReached } from '@market/handlers/limit'
import { networksOf, SHARES } from '@market/handlers/networks'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyServerFactory } from 'fastify'
import { type Addressing, addressOf } from './address-of.ts'
import { respondToClientError } from './client-error.ts'
import { limitConnections } from './connections.ts'
import { commonHeaders } from './headers.ts'
import type { Metrics } from './metrics.ts'

/** What one client may cost, whatever it asks for. */
export interface ClientLimits {
  /** Counts a request of an address or network in this process, which may have `times` the requests of an address. */
  readonly countRequest: (
    network: string,
    times: number,
  ) => { readonly allowed: boolean; readonly resetsInMs: number }
  /** How many requests of an address `countRequest` allows in a window. */
  readonly maxRequests: number
  readonly maxConnections: number
}

interface GuardSettings extends Addressing {
  readonly limits: ClientLimits
  readonly isTrustedProxy: (peer: string) => boolean
  /** Told of a peer that is not trusted and sends the headers of a proxy. */
  readonly onUntrustedProxy: (peer: string) => void
  readonly appOrigin: string
  /** Whether the route limits the time of the body itself, because files take longer. */
  readonly isUpload?: (request: IncomingMessage) => boolean
  readonly metrics: Pick<Metrics, 'rejected'>
}

const SECOND = 1_000

/** For the body of a request after its headers, except for uploads. */
const BODY_MS = 15 * SECOND

/** Limits of headers, and of the time of requests and between them. */
const HTTP = {
  // Node has one limit for all routes, so it is that of uploads.
  requestTimeout: 630 * SECOND,
  headersTimeout: 10 * SECOND,
  keepAliveTimeout: 20 * SECOND,
  connectionsCheckingInterval: SECOND,
  maxHeaderSize: 16 * 1024,
} as const
/** Without a byte in either direction. */
const SILENT_MS = 30 * SECOND

/** The HTTP server, which counts every request before it is routed: also unknown paths, preflights and documents. */
export const guardedServer =
  (settings: GuardSettings): FastifyServerFactory =>
  (handle) => {
    const { limits, metrics, isTrustedProxy, onUntrustedProxy, clientAddress } = settings
    const onRejected = (reason: string) => metrics.rejected.inc({ reason })
    const server = createServer(HTTP, (request, response) => {
      if (!connections.accept(request.socket, response)) return
      const { remoteAddress: peer = '' } = request.socket
      // fix: untrusted-proxy
      if (isForwarded(request) && !isTrustedProxy(peer)) onUntrustedProxy(peer)
      const limited = rejectionOf(addressOf(request, settings), limits)
      if (limited !== undefined) onRejected('requests')
      // fix: several-hosts
      const rejection = limited ?? (hasSeveralHosts(request) ? severalHosts() : undefined)
      // A connection that sent too many requests at once is closed by then, and nothing is done for them.
      process.nextTick(() => {
        if (request.socket.destroyed) return
        if (!request.complete && settings.isUpload?.(request) !== true) limitBodyTime(request)
        // fix: every-request-counts
        if (rejection === undefined) handle(request, response)
        else rejectRequest(request, response, settings.appOrigin, rejection)
      })
    })
    const connections = limitConnections(server, {
      // A proxy opens connections for many clients.
      addressOfPeer: (peer) => (isTrustedProxy(peer) ? undefined : clientAddress(peer, undefined)),
      maxPerAddress: limits.maxConnections,
      onRejected,
    })
    return server.setTimeout(SILENT_MS)
  }

/** Whether a proxy, or a client that pretends to be one, says for whom it sends the request. */
const isForwarded = ({ headers }: IncomingMessage): boolean =>
  headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined

/** Node uses the first one, and a proxy may have used another. */
const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++
  return hosts > 1
}

const severalHosts = (): ApiError =>
  new ApiError('invalid', 'The request has several Host headers. Send one.', { code: 'bad_request' })

/** Counts the request for its address and the wider networks, and returns the 429 of the limit that rejects it. */
function rejectionOf(address: string, { countRequest, maxRequests }: ClientLimits): ApiError | undefined {
  for (const { kind, subject } of networksOf(address)) {
    const times = SHARES.address[kind]
    const { allowed, resetsInMs } = countRequest(subject, times)
    const max = maxRequests * times
    if (!allowed)
      return limitReached('Too many requests from this address.', { max }, { resetsInMs }, new Date())
  }
  return undefined
}

/** Responds with 408 when the body does not arrive in time. Most bodies come with the headers and need no timer. */
function limitBodyTime(request: IncomingMessage): void {
  const late = Object.assign(new Error('The body did not arrive'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  const timer = setTimeout(() => {
    if (!request.complete) respondToClientError(late, request.socket)
  }, BODY_MS)
  request.once('close', () => clearTimeout(timer))
}

function rejectRequest(
  { headers }: IncomingMessage,
  response: ServerResponse,
  appOrigin: string,
  error: ApiError,
): void {
  const requestId = randomUUID()
  const failure = failureOf(error, requestId)
  response
    .writeHead(failure.status, {
      ...commonHeaders(requestId, headers.origin, appOrigin),
      ...failure.headers,
      'Content-Type': 'application/json; charset=utf-8',
    })
    .end(JSON.stringify(failure.body))
}
