import type { FastifyInstance, FastifyReply } from 'fastify'

/** Sent with every response: no framing, no content sniffing, no shared caching, no referrer. */
export const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const

const ALLOW_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'X-Market-Wallet',
  'X-Market-Wallet-Sig',
  'X-Market-Wallet-Sig-Ts',
  'X-Market-Wallet-Chain',
  'X-Market-Brief',
  'X-PAYMENT',
  'X-Payment-Network',
  'X-Payment-Claim',
  'PAYMENT-SIGNATURE',
  'SIGN-IN-WITH-X',
  'Access-Control-Expose-Headers',
].join(', ')

const EXPOSE_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'Idempotent-Replayed',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Market-Payment-Reference',
  'X-Market-Payment-Claim',
  'X-Market-Payment-Expires',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
].join(', ')

/**
 * The headers of every response. Any page may call the public API without cookies. Only our own app may send cookies.
 */
export function commonHeaders(requestId: string, origin: string | undefined, appOrigin: string) {
  const isApp = origin === appOrigin
  return {
    ...SECURITY_HEADERS,
    'X-Request-Id': requestId,
    ...(origin !== undefined && {
      'Access-Control-Allow-Origin': isApp ? appOrigin : '*',
      'Access-Control-Expose-Headers': EXPOSE_HEADERS,
      Vary: 'Origin',
    }),
    ...(isApp && { 'Access-Control-Allow-Credentials': 'true' }),
  }
}

/** Adds the common headers and responds to preflight requests. */
export function addHeaders(app: FastifyInstance, appOrigin: string): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    reply.headers(commonHeaders(request.id, origin, appOrigin))
    const isPreflight =
      origin !== undefined &&
      request.method === 'OPTIONS' &&
      request.headers['access-control-request-method'] !== undefined
    if (!isPreflight) return undefined
    reply.header('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
    reply.header('Access-Control-Allow-Headers', ALLOW_HEADERS)
    reply.header('Access-Control-Max-Age', '600')
    return reply.code(204).send()
  })
}

/** Adds a name to `Vary`, which already has the origin where a page sent the request. */
export function addVary(reply: FastifyReply, name: string): void {
  const vary = reply.getHeader('Vary')
  reply.header('Vary', vary === undefined ? name : `${String(vary)}, ${name}`)
}
