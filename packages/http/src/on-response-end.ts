import type { FastifyInstance, FastifyRequest } from 'fastify'

export interface EndedResponse {
  readonly status: number
  readonly ms: number
}

/** The status logged when the client disconnected before the response. */
const CLIENT_CLOSED_REQUEST = 499

/** Calls `listener` after every response. Fastify's own hook does not run when the client disconnects, as on a stream. */
export function onResponseEnd(
  app: FastifyInstance,
  listener: (request: FastifyRequest, ended: EndedResponse) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const startedAt = performance.now()
    reply.raw.once('close', () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST
      listener(request, { status, ms: performance.now() - startedAt })
    })
  })
}
