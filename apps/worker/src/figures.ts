import { mountHealth } from '@market/http/health'
import { createMetrics, mountMetrics } from '@market/http/metrics'
import type { Needs } from '@market/market/context'
import { queueFigures } from '@market/market/queue'
import Fastify from 'fastify'
import { Counter, Gauge } from 'prom-client'

interface FigureSettings {
  readonly host: string
  readonly port: number
  readonly readers: readonly string[]
  readonly ctx: Needs<'db'>
  readonly isReady: () => Promise<boolean>
  readonly isStopping: () => boolean
}

const UNKNOWN = { waiting: NaN, oldestSeconds: NaN, running: NaN, failing: NaN }

/** A worker's own small server: is it alive, is it ready, and how does the queue stand. */
export async function serveFigures(settings: FigureSettings) {
  const metrics = createMetrics()
  const { registry } = metrics
  const failures = new Counter({
    name: 'market_job_failures_total',
    help: 'Jobs and sweeps that ended in an error',
    labelNames: ['task'],
    registers: [registry],
  })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const waiting = gauge('market_jobs_waiting', 'Jobs whose time has come and nobody has taken')
  const oldest = gauge('market_jobs_oldest_seconds', 'How long the oldest of them has waited')
  const running = gauge('market_jobs_running', 'Jobs that are being done')
  const failing = gauge('market_jobs_failing', 'Jobs that failed and are still to be done')

  const app = Fastify({ logger: false })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== '/metrics') return
    // While the database is away the queue is unknown, and the process's own figures matter most.
    const figures = await queueFigures(settings.ctx).catch(() => UNKNOWN)
    waiting.set(figures.waiting)
    oldest.set(figures.oldestSeconds)
    running.set(figures.running)
    failing.set(figures.failing)
  })
  mountHealth(app, { isReady: settings.isReady, isDraining: settings.isStopping })
  mountMetrics(app, metrics, settings.readers)
  const address = await app.listen({ host: settings.host, port: settings.port })
  return {
    address,
    noteFailure: (task: string) => failures.inc({ task }),
    stop: () => app.close(),
  }
}
