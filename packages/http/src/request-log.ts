import type { FastifyInstance } from 'fastify'

export interface RequestLog {
  info(fields: object, message: string): void
}

/** One line per answer: what was asked and what came of it; never a body, a query or a credential. */
export function logAnswers(app: FastifyInstance, log: RequestLog): void {
  app.addHook('onResponse', async (request, reply) => {
    log.info(
      {
        request_id: request.id,
        operation: request.operation ?? 'other',
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'answered',
    )
  })
}
