import { OLDEST_HEADER } from '@market/contract/client-versions'
import type { ApiResponse } from '@market/handlers/call'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Sends the response of the pipeline, or 304 where the client has the same document. */
export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body, json, shared }: ApiResponse,
): FastifyReply {
  reply.headers(headers)
  if (shared !== undefined) {
    // A cache would return to many what is about one request or one client.
    reply.headers(sharedHeaders(shared)).removeHeader('X-Request-Id').removeHeader(OLDEST_HEADER)
    if (isKnown(request, shared.etag)) return reply.code(304).send()
  }
  reply.code(status)
  return json === undefined ? reply.send(body) : reply.type('application/json; charset=utf-8').send(json)
}

/**
 * `Vary` has what makes a response another one: the page that sent the request, and every header with a credential.
 * Browsers ask again each time, so that a user sees a change as soon as shared caches do.
 */
const sharedHeaders = ({ etag, seconds }: NonNullable<ApiResponse['shared']>) => ({
  'Cache-Control': `public, max-age=0, s-maxage=${seconds}`,
  ETag: etag,
  // fix: shared-vary
  Vary: 'Origin, Authorization, Cookie, X-Market-Wallet-Sig',
})

/** Whether the client has what this tag names. Caches may have made the tag a weak one. */
export const isKnown = ({ headers }: FastifyRequest, etag: string): boolean =>
  (headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
