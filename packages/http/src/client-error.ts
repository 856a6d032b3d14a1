import type { Socket } from 'node:net'
import type { ErrorCode } from '@market/contract/error-codes'

interface ClientError extends Error {
  readonly code?: string
}

/** Errors that Node finds before Fastify sees a request. They get our error envelope, then the connection is closed. */
const RESPONSES: Readonly<Record<string, readonly [status: string, message: string, code: ErrorCode]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The headers are too large',
    'headers_too_large',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive', 'request_timeout'],
}

const MALFORMED = ['400 Bad Request', 'The request could not be read', 'bad_request'] as const

export function respondToClientError(error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const [status, message, code] = RESPONSES[error.code ?? ''] ?? MALFORMED
  socket.end(rawResponse(status, message, code))
}

/** A response outside of any request. The connection is closed after it. */
export function rawResponse(
  status: string,
  message: string,
  code: ErrorCode,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = JSON.stringify({ success: false, error: message, code })
  const head = Object.entries({
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status}\r\n${head.join('')}\r\n${body}`
}
