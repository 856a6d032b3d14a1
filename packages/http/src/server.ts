import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { EventStreams } from '@market/handlers/event-streams'
import type { Execute } from '@market/handlers/execute'
import type { ServeDocument } from '@market/handlers/x402/catalog'
import Fastify, { type FastifyInstance } from 'fastify'
import { clientAddress } from './client-address.ts'
import { answerClientError } from './client-error.ts'
import { mountDocs } from './docs.ts'
import { answerInEnvelope, answerUnroutable } from './envelope.ts'
import { addHeaders } from './headers.ts'
import { type Health, mountHealth } from './health.ts'
import { acceptJson } from './json-body.ts'
import { type Metrics, mountMetrics } from './metrics.ts'
import { logAnswers, type RequestLog } from './request-log.ts'
import { mountRest, reject } from './rest.ts'
import { mountEventStream } from './sse.ts'
import { mountDocuments } from './x402/mount.ts'

export interface ServerSettings {
  readonly execute: Execute
  readonly streams: EventStreams
  readonly documents: ServeDocument
  readonly baseUrl: string
  readonly appUrl: string
  readonly trustedProxies: readonly string[]
  readonly metricsReaders: readonly string[]
  readonly metrics: Metrics
  readonly health: Health
  readonly log: RequestLog
  readonly onFault: (error: unknown, requestId: string) => void
}

const SECOND = 1_000

/** No request, header, body or idle connection may hold a socket for longer than these say. */
const LIMITS = {
  bodyLimit: 256 * 1024,
  requestTimeout: 15 * SECOND,
  connectionTimeout: 30 * SECOND,
  keepAliveTimeout: 20 * SECOND,
  http: { headersTimeout: 10 * SECOND, connectionsCheckingInterval: SECOND, maxHeaderSize: 16 * 1024 },
  // As long as a path can be: what a parameter may hold, its operation says.
  routerOptions: { maxParamLength: 16 * 1024 },
} as const

export function buildServer(settings: ServerSettings): FastifyInstance<Server> {
  const app = Fastify({
    ...LIMITS,
    logger: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: answerUnroutable,
    onConstructorPoisoning: 'error',
    onProtoPoisoning: 'error',
  })
  const { baseUrl, appUrl, health } = settings
  // First, so that a preflight, which the headers answer, is noted too.
  logAnswers(app, settings.log)
  mountMetrics(app, settings.metrics, settings.metricsReaders)
  addHeaders(app, new URL(appUrl).origin)
  app.addHook('onSend', async (_request, reply) => {
    // While draining, a kept-alive client is told to go elsewhere with its next request.
    if (health.isDraining()) reply.header('Connection', 'close')
  })
  acceptJson(app)
  mountHealth(app, health)
  mountDocs(app, baseUrl)
  const edge = {
    clientAddress: clientAddress(settings.trustedProxies),
    ownOrigins: new Set([new URL(baseUrl).origin, new URL(appUrl).origin]),
  }
  const rest = { execute: settings.execute, ...edge }
  answerInEnvelope(app, settings.onFault, (request, error) => reject(request, error, rest))
  mountRest(app, rest)
  mountEventStream(app, settings.streams, edge)
  mountDocuments(app, settings.documents, { ...edge, baseUrl })
  return app
}
