import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { operationList } from '@market/contract/operations'
import type { AppServices } from '@market/handlers/app-services'
import type { EventStreams } from '@market/handlers/event-streams'
import type { Execute } from '@market/handlers/execute'
import type { ServeDocument } from '@market/handlers/x402/catalog'
import Fastify, { type FastifyInstance } from 'fastify'
import { addressList, clientAddress, isListed, plain } from './client-address.ts'
import { respondToClientError } from './client-error.ts'
import { mountClientPackages, tellOldClients } from './client-packages.ts'
import { respondToUnroutable, sendErrorsInEnvelope } from './envelope.ts'
import { type ClientLimits, guardedServer } from './guarded-server.ts'
import { addHeaders } from './headers.ts'
import { type Health, mountHealth } from './health.ts'
import { acceptJson } from './json-body.ts'
import { countResponses, type Metrics, mountMetrics } from './metrics.ts'
import { mountPages } from './pages/mount.ts'
import { leadToPurchasePage } from './purchase-page.ts'
import { mountReceiptKeys } from './receipt-keys.ts'
import { mountReference } from './reference/mount.ts'
import { logResponses, type RequestLog } from './request-log.ts'
import { mountRest, reject } from './rest.ts'
import { mountSecurityTxt, type SecurityContact } from './security-txt.ts'
import { mountEventStream } from './sse.ts'
import { mountDocuments } from './x402/mount.ts'

export interface ServerSettings {
  readonly execute: Execute
  readonly streams: EventStreams
  readonly documents: ServeDocument
  readonly baseUrl: string
  readonly appUrl: string
  /** The origin of the pages for people; undefined without them. */
  readonly pagesUrl?: string | undefined
  readonly trustedProxies: readonly string[]
  readonly onUntrustedProxy: (peer: string) => void
  /** For /.well-known/security.txt. */
  readonly securityContact?: SecurityContact | undefined
  /** For /.well-known/jwks.json. */
  readonly receiptKeys: AppServices['receipts']['keys']
  readonly clientLimits: ClientLimits
  readonly metricsReaders: readonly string[]
  readonly metrics: Metrics
  readonly health: Health
  /** Files that this process receives at the same time; each needs some memory. */
  readonly maxUploads?: number
  readonly log: RequestLog
  readonly onFault: (error: unknown, requestId: string) => void
}

/** Limits of the size of requests. */
const LIMITS = {
  bodyLimit: 256 * 1024,
  // The router allows any length; the schema of the operation limits each parameter.
  routerOptions: { maxParamLength: 16 * 1024 },
} as const

const UPLOAD_PATHS = new Set(operationList.flatMap(({ file, path }) => (file ? [path] : [])))

export function buildServer(settings: ServerSettings): FastifyInstance<Server> {
  const { baseUrl, appUrl, pagesUrl, health, metrics } = settings
  const appOrigin = new URL(appUrl).origin
  const proxies = addressList(settings.trustedProxies)
  const edge = {
    clientAddress: clientAddress(settings.trustedProxies),
    ownOrigins: new Set([new URL(baseUrl).origin, appOrigin]),
    isSecure: baseUrl.startsWith('https:'),
  }
  const app = Fastify({
    ...LIMITS,
    serverFactory: guardedServer({
      ...edge,
      appOrigin,
      metrics,
      limits: settings.clientLimits,
      isTrustedProxy: (peer) => isListed(proxies, plain(peer)),
      onUntrustedProxy: settings.onUntrustedProxy,
      isUpload: ({ url = '' }) => UPLOAD_PATHS.has(url.split('?', 1)[0] ?? ''),
    }),
    logger: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: respondToClientError,
    frameworkErrors: respondToUnroutable,
    onConstructorPoisoning: 'error',
    onProtoPoisoning: 'error',
  })
  // Registered first, so that preflight requests, which the header hook completes, are logged too.
  logResponses(app, settings.log, edge)
  countResponses(app, metrics)
  mountMetrics(app, metrics, { readers: settings.metricsReaders, health })
  addHeaders(app, appOrigin)
  tellOldClients(app)
  app.addHook('onSend', async (_request, reply) => {
    // While draining, keep-alive clients must open their next connection to another instance.
    if (health.isDraining()) reply.header('Connection', 'close')
  })
  acceptJson(app)
  mountHealth(app, health, { showsReason: false })
  mountReference(app, { baseUrl, pagesUrl })
  mountPages(app, { baseUrl, appUrl, pagesUrl })
  if (pagesUrl !== undefined) leadToPurchasePage(app, pagesUrl)
  mountSecurityTxt(app, baseUrl, settings.securityContact)
  mountReceiptKeys(app, settings.receiptKeys)
  mountClientPackages(app, baseUrl)
  const rest = { execute: settings.execute, maxUploads: settings.maxUploads, ...edge }
  sendErrorsInEnvelope(app, settings.onFault, (request, error) => reject(request, error, rest))
  mountRest(app, rest)
  mountEventStream(app, settings.streams, edge)
  mountDocuments(app, settings.documents, { baseUrl, appUrl })
  return app
}
