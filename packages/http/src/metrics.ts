import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { addressList, isListed, plain } from './client-address.ts'
import { whenEnded } from './when-ended.ts'

export interface Metrics {
  readonly registry: Registry
  readonly faults: Counter
  readonly limiterFallbacks: Counter
}

/** Made once per process. Operations are the only label that grows, and the contract bounds them. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    faults: new Counter({
      name: 'market_faults_total',
      help: 'Answers that were our fault',
      registers: [registry],
    }),
    limiterFallbacks: new Counter({
      name: 'market_limiter_fallbacks_total',
      help: 'Calls limited per process because Redis did not answer',
      registers: [registry],
    }),
  }
}

/** Counts every answer by operation and status, and serves the figures to the addresses allowed to read them. */
export function mountMetrics(app: FastifyInstance, { registry }: Metrics, readers: readonly string[]): void {
  const allowed = addressList(readers)
  const requests = new Counter({
    name: 'market_requests_total',
    help: 'Requests answered',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'market_request_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const inFlight = new Gauge({
    name: 'market_requests_in_flight',
    help: 'Requests being answered',
    registers: [registry],
  })
  app.addHook('onRequest', async () => inFlight.inc())
  whenEnded(app, (request, { status, ms }) => {
    inFlight.dec()
    const operation = request.operation ?? 'other'
    requests.inc({ operation, status })
    seconds.observe({ operation }, ms / 1_000)
  })
  app.get('/metrics', async (request, reply) => {
    // A request that came through a proxy came from outside, whatever its socket says.
    const isDirect =
      request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined
    if (!isDirect || !isListed(allowed, plain(request.socket.remoteAddress ?? '')))
      return reply.callNotFound()
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
