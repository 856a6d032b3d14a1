import type { FastifyInstance, FastifyRequest } from 'fastify'

export interface Ended {
  readonly status: number
  readonly ms: number
}

/** What is noted of a client that did not wait for its answer. */
const CLIENT_GONE = 499

/** Tells of every answer once it is over. The framework's own hook is silent when the client hangs up, as on a stream. */
export function whenEnded(app: FastifyInstance, tell: (request: FastifyRequest, ended: Ended) => void): void {
  app.addHook('onRequest', async (request, reply) => {
    const began = performance.now()
    reply.raw.once('close', () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_GONE
      tell(request, { status, ms: performance.now() - began })
    })
  })
}
