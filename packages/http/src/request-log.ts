import type { FastifyInstance } from 'fastify'
import { onResponseEnd } from './on-response-end.ts'

export interface RequestLog {
  info(fields: object, message: string): void
}

/** Logs one line per response, without body, query or credentials. */
export function logResponses(app: FastifyInstance, log: RequestLog): void {
  onResponseEnd(app, (request, { status, ms }) => {
    log.info(
      {
        request_id: request.id,
        operation: request.operation ?? 'other',
        method: request.method,
        status,
        ms: Math.round(ms * 10) / 10,
      },
      'request completed',
    )
  })
}
