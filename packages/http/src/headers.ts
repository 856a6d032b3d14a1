import type { FastifyInstance } from 'fastify'

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

/** Any page may call the public API without cookies. Only our own app may send cookies. */
export function addHeaders(app: FastifyInstance, appOrigin: string): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS)
    reply.header('X-Request-Id', request.id)
    const { origin } = request.headers
    if (origin === undefined) return undefined
    const isApp = origin === appOrigin
    reply.header('Access-Control-Allow-Origin', isApp ? appOrigin : '*')
    reply.header('Access-Control-Expose-Headers', EXPOSE_HEADERS)
    reply.header('Vary', 'Origin')
    if (isApp) reply.header('Access-Control-Allow-Credentials', 'true')
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (!isPreflight) return undefined
    reply.header('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
    reply.header('Access-Control-Allow-Headers', ALLOW_HEADERS)
    reply.header('Access-Control-Max-Age', '600')
    return reply.code(204).send()
  })
}
