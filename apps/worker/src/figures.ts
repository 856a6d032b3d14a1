import type { Needs } from '@market/core/context'
import { queueMetrics } from '@market/core/queue'
import { mountHealth } from '@market/http/health'
import { createMetrics, mountMetrics } from '@market/http/metrics'
import { payoutMetrics } from '@market/money/payouts'
import { type GasFigures, purchaseFigures } from '@market/trade/x402'
import Fastify from 'fastify'
import { Counter, Gauge } from 'prom-client'

interface FigureSettings {
  readonly host: string
  readonly port: number
  readonly readers: readonly string[]
  readonly ctx: Needs<'db' | 'clock'>
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
  const perNetwork = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['network'], registers: [registry] })
  const waiting = gauge('market_jobs_waiting', 'Jobs whose time has come and nobody has taken')
  const oldest = gauge('market_jobs_oldest_seconds', 'How long the oldest of them has waited')
  const running = gauge('market_jobs_running', 'Jobs that are being done')
  const failing = gauge('market_jobs_failing', 'Jobs that failed and are still to be done')

  const money = {
    waiting: perNetwork('market_payouts_waiting', 'Payouts that were asked for and have not ended'),
    oldestSeconds: perNetwork('market_payouts_oldest_seconds', 'How long the oldest of them has waited'),
    held: perNetwork('market_payouts_held', 'Payouts that wait for something to change'),
    failed: perNetwork('market_payouts_failed', 'Payouts that somebody must look at'),
    short: perNetwork('market_treasury_short_micros', 'What the treasury lacks of what it must hold'),
    isOpen: perNetwork('market_payouts_open', '1 while payouts may leave'),
  }
  const tellMoney = async () => {
    for (const gauge of Object.values(money)) gauge.reset()
    const metrics = await payoutMetrics(settings.ctx)
    for (const { network, ...figures } of metrics.filter(({ isGuarded }) => isGuarded))
      for (const [name, gauge] of Object.entries(money))
        gauge.set({ network }, Number(figures[name as keyof typeof money]))
  }

  const purchases = {
    underWay: perNetwork('market_hires_under_way', 'Payments of buyers that we sent and have not ended'),
    oldestSeconds: perNetwork('market_hires_oldest_seconds', 'How long the oldest of them is under way'),
  }
  const tellHires = async () => {
    for (const gauge of Object.values(purchases)) gauge.reset()
    for (const { network, underWay, oldestSeconds } of await purchaseFigures(settings.ctx)) {
      purchases.underWay.set({ network }, Number(underWay))
      purchases.oldestSeconds.set({ network }, oldestSeconds)
    }
  }
  const gas = perNetwork('market_gas_settlements_left', 'How many more payments the gas account pays for')

  const app = Fastify({ logger: false })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== '/metrics') return
    // While the database is away the queue is unknown, and the process's own figures matter most.
    const figures = await queueMetrics(settings.ctx).catch(() => UNKNOWN)
    waiting.set(figures.waiting)
    oldest.set(figures.oldestSeconds)
    running.set(figures.running)
    failing.set(figures.failing)
    // A figure that is not told is seen to be missing; one of yesterday would be believed.
    await Promise.allSettled([tellMoney(), tellHires()])
  })
  mountHealth(app, { isReady: settings.isReady, isDraining: settings.isStopping })
  mountMetrics(app, metrics, settings.readers)
  const address = await app.listen({ host: settings.host, port: settings.port })
  return {
    address,
    noteFailure: (task: string) => failures.inc({ task }),
    noteGas: (figures: readonly GasFigures[]) => {
      gas.reset()
      for (const { network, settlementsLeft } of figures) gas.set({ network }, settlementsLeft)
    },
    stop: () => app.close(),
  }
}
