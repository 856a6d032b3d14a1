import type { FastifyRequest } from 'fastify'

/** Whether a browser says that one of our own pages made the request. Saying nothing is not saying so. */
export function isSameSite(request: FastifyRequest, ownOrigins: ReadonlySet<string>): boolean {
  const { origin } = request.headers
  if (origin !== undefined && !ownOrigins.has(origin)) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'same-site'
  return origin !== undefined
}
