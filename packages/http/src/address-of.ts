import type { FastifyRequest } from 'fastify'
import type { ClientAddress } from './client-address.ts'

export interface Addressing {
  readonly clientAddress: ClientAddress
}

/** The client's address that rate limits count. */
export const addressOf = (request: FastifyRequest, settings: Addressing): string =>
  settings.clientAddress(request.socket.remoteAddress ?? '', forwardedFor(request))

/** Repeated X-Forwarded-For headers form one list, in the order of the request. */
function forwardedFor(request: FastifyRequest): string | undefined {
  const header = request.headers['x-forwarded-for']
  return Array.isArray(header) ? header.join(',') : header
}
