import type { FastifyRequest } from 'fastify'
import type { ClientAddress } from './client-address.ts'

export interface Addressing {
  readonly clientAddress: ClientAddress
}

/** The client's address as limits count it. */
export const addressOf = (request: FastifyRequest, settings: Addressing): string =>
  settings.clientAddress(request.socket.remoteAddress ?? '', forwardedFor(request))

/** Several headers of the name are one list, in the order they came. */
function forwardedFor(request: FastifyRequest): string | undefined {
  const header = request.headers['x-forwarded-for']
  return Array.isArray(header) ? header.join(',') : header
}
