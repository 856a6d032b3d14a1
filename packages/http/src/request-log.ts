import type { callerFields } from '@market/handlers/credential'
import type { FastifyInstance } from 'fastify'
import { type Addressing, addressOf } from './address-of.ts'
import { onResponseEnd } from './on-response-end.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address, for logs and rate limits. */
    client: string
    /** Who calls and with which credential, once it was verified. */
    caller: LoggedCaller | null
  }
}

export type LoggedCaller = ReturnType<typeof callerFields>

export interface RequestLog {
  info(fields: object, message: string): void
}

/** Logs one line per response, without body, query or credentials. */
export function logResponses(app: FastifyInstance, log: RequestLog, addressing: Addressing): void {
  app.decorateRequest('client', '')
  app.decorateRequest('caller', null)
  // Read now, because a closed socket has no address any more.
  app.addHook('onRequest', async (request) => {
    request.client = addressOf(request, addressing)
  })
  onResponseEnd(app, (request, { status, ms }) => {
    log.info(
      {
        request_id: request.id,
        operation: request.operation ?? 'other',
        method: request.method,
        status,
        // fix: caller-in-log
        ...(request.caller ?? { caller: 'unidentified' }),
        client: request.client,
        ms: Math.round(ms * 10) / 10,
      },
      'request completed',
    )
  })
}
