import type { IncomingMessage } from 'node:http'
import type { ClientAddress } from './client-address.ts'

export interface Addressing {
  readonly clientAddress: ClientAddress
}

/** The client's address that rate limits count. */
export const addressOf = (
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  settings: Addressing,
): string => settings.clientAddress(socket.remoteAddress ?? '', forwardedFor(headers))

/** Repeated X-Forwarded-For headers form one list, in the order of the request. */
function forwardedFor(headers: IncomingMessage['headers']): string | undefined {
  const header = headers['x-forwarded-for']
  return Array.isArray(header) ? header.join(',') : header
}
