import type { FastifyInstance } from 'fastify'
import { whenEnded } from './when-ended.ts'

export interface RequestLog {
  info(fields: object, message: string): void
}

/** One line per answer: what was asked and what came of it; never a body, a query or a credential. */
export function logAnswers(app: FastifyInstance, log: RequestLog): void {
  whenEnded(app, (request, { status, ms }) => {
    log.info(
      {
        request_id: request.id,
        operation: request.operation ?? 'other',
        method: request.method,
        status,
        ms: Math.round(ms * 10) / 10,
      },
      'answered',
    )
  })
}
