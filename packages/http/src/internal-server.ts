import Fastify, { type FastifyInstance } from 'fastify'
import { type Health, mountHealth } from './health.ts'
import { type Metrics, mountMetrics } from './metrics.ts'

interface InternalSettings {
  readonly health: Health
  readonly metrics: Metrics
  readonly metricsReaders: readonly string[]
}

/** For operators and probes, on a port that the public cannot reach: health with the reason, and the metrics. */
export function buildInternalServer({ health, metrics, metricsReaders }: InternalSettings): FastifyInstance {
  const app = Fastify({ logger: false })
  mountHealth(app, health, { showsReason: true })
  mountMetrics(app, metrics, { readers: metricsReaders, health })
  return app
}
