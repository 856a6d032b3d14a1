import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { addressList, isListed, plain } from './client-address.ts'
import type { Health } from './health.ts'
import { onResponseEnd } from './on-response-end.ts'

export interface Metrics {
  readonly registry: Registry
  readonly faults: Counter
  readonly limiterFallbacks: Counter
  readonly identityFailures: Counter
  /** By reason: `requests`, `connections`, `pipelined` or `unread`. */
  readonly rejected: Counter<'reason'>
  readonly requests: Counter<'operation' | 'status'>
  readonly seconds: Histogram<'operation'>
  readonly inFlight: Gauge
  readonly ready: Gauge
}

/** Create once per process. The only growing label is the operation, and the contract bounds it. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    faults: new Counter({
      name: 'market_faults_total',
      help: 'Responses with an internal error',
      registers: [registry],
    }),
    limiterFallbacks: new Counter({
      name: 'market_limiter_fallbacks_total',
      help: 'Calls limited per process because Redis did not respond',
      registers: [registry],
    }),
    identityFailures: new Counter({
      name: 'market_identity_failures_total',
      help: 'Access tokens that could not be checked because the identity provider did not respond',
      registers: [registry],
    }),
    rejected: new Counter({
      name: 'market_rejected_total',
      help: 'Requests and connections that were rejected before routing',
      labelNames: ['reason'],
      registers: [registry],
    }),
    requests: new Counter({
      name: 'market_requests_total',
      help: 'Completed requests',
      labelNames: ['operation', 'status'],
      registers: [registry],
    }),
    seconds: new Histogram({
      name: 'market_request_seconds',
      help: 'Time from the first byte of a request to the last byte of its response',
      labelNames: ['operation'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    inFlight: new Gauge({
      name: 'market_requests_in_flight',
      help: 'Requests in progress',
      registers: [registry],
    }),
    ready: new Gauge({
      name: 'market_ready',
      help: '1 when the database responds and has every migration of this version',
      registers: [registry],
    }),
  }
}

/** Counts every response by operation and status. */
export function countResponses(app: FastifyInstance, { requests, seconds, inFlight }: Metrics): void {
  app.addHook('onRequest', async () => inFlight.inc())
  onResponseEnd(app, (request, { status, ms }) => {
    inFlight.dec()
    const operation = request.operation ?? 'other'
    requests.inc({ operation, status })
    seconds.observe({ operation }, ms / 1_000)
  })
}

interface MetricsSettings {
  readonly readers: readonly string[]
  readonly health: Pick<Health, 'whyNotReady'>
}

/** Serves the metrics to the configured addresses. */
export function mountMetrics(
  app: FastifyInstance,
  { registry, ready }: Metrics,
  { readers, health }: MetricsSettings,
): void {
  const allowed = addressList(readers)
  app.get('/metrics', async (request, reply) => {
    // A request with forwarding headers came through a proxy, so its socket address is not the client.
    const isDirect =
      request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined
    if (!isDirect || !isListed(allowed, plain(request.socket.remoteAddress ?? '')))
      return reply.callNotFound()
    ready.set((await health.whyNotReady()) === undefined ? 1 : 0)
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
