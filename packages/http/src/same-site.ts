import type { FastifyRequest } from 'fastify'

/**
 * Whether the browser’s headers show that one of our own pages sent the request. Without such headers it is false. A page of a
 * sibling origin, such as that of uploaded files, is on the same site, so only its origin tells it from our own.
 */
export function isSameSite(request: FastifyRequest, ownOrigins: ReadonlySet<string>): boolean {
  const { origin } = request.headers
  if (origin !== undefined && !ownOrigins.has(origin)) return false
  const site = request.headers['sec-fetch-site']
  if (site === undefined) return origin !== undefined
  // fix: sibling-origin
  return site === 'same-origin' || (site === 'same-site' && origin !== undefined)
}

/** Whether the browser’s headers show that a page of another origin sent the request. Programs send no such headers. */
export const isOtherSite = (request: FastifyRequest, ownOrigins: ReadonlySet<string>): boolean =>
  (request.headers.origin !== undefined || request.headers['sec-fetch-site'] !== undefined) &&
  !isSameSite(request, ownOrigins)
