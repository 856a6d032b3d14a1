import type { Socket } from 'node:net'

interface ClientError extends Error {
  readonly code?: string
}

/** What Node itself rejects before there is a request: still in our envelope, then the connection ends. */
const ANSWERS: Readonly<Record<string, readonly [status: string, sentence: string, code: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The headers are too large',
    'headers_too_large',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive', 'request_timeout'],
}

const MALFORMED = ['400 Bad Request', 'The request could not be read', 'bad_request'] as const

export function answerClientError(error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const [status, sentence, code] = ANSWERS[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({ success: false, error: sentence, code })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
