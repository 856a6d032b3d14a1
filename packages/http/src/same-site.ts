import type { FastifyRequest } from 'fastify'

/** Whether the browser’s headers show that one of our own pages sent the request. Without such headers it is false. */
export function isSameSite(request: FastifyRequest, ownOrigins: ReadonlySet<string>): boolean {
  const { origin } = request.headers
  if (origin !== undefined && !ownOrigins.has(origin)) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'same-site'
  return origin !== undefined
}
