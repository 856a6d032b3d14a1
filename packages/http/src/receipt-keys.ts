import type { AppServices } from '@market/handlers/app-services'
import type { FastifyInstance } from 'fastify'

/** The public keys of receipts as a JWK Set (RFC 7517). The keys of access tokens are another set, at /oauth/jwks. */
export function mountReceiptKeys(app: FastifyInstance, keys: AppServices['receipts']['keys']): void {
  app.get('/.well-known/jwks.json', async (request, reply) => {
    request.operation = 'receiptKeys'
    return reply
      .type('application/jwk-set+json')
      .header('Cache-Control', 'public, max-age=300')
      .send(JSON.stringify({ keys }))
  })
}
