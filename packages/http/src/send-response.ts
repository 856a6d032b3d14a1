import type { ApiResponse } from '@market/handlers/call'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Sends the response of the pipeline, or 304 where the client has the same document. */
export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body, json }: ApiResponse,
): FastifyReply {
  reply.headers(headers)
  if (isKnown(request, headers['ETag'])) return reply.code(304).send()
  reply.code(status)
  return json === undefined ? reply.send(body) : reply.type('application/json; charset=utf-8').send(json)
}

/** Whether the client has what this tag names. Caches may have made the tag a weak one. */
export const isKnown = ({ headers }: FastifyRequest, etag: string | undefined): boolean =>
  etag !== undefined &&
  (headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
