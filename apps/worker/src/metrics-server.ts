import type { Needs } from '@market/core/context'
import { queueMetrics } from '@market/core/queue'
import { mountHealth } from '@market/http/health'
import { createMetrics, mountMetrics } from '@market/http/metrics'
import { payoutMetrics } from '@market/money/payouts'
import { type GasMetrics, purchaseMetrics } from '@market/trade/x402'
import Fastify from 'fastify'
import { Counter, Gauge } from 'prom-client'

interface MetricsServerSettings {
  readonly host: string
  readonly port: number
  readonly readers: readonly string[]
  readonly ctx: Needs<'db' | 'clock'>
  readonly isReady: () => Promise<boolean>
  readonly isStopping: () => boolean
}

const UNKNOWN = { waiting: NaN, oldestSeconds: NaN, running: NaN, failing: NaN }

/** Serves the health and the metrics of this worker. */
export async function startMetricsServer(settings: MetricsServerSettings) {
  const metrics = createMetrics()
  const { registry } = metrics
  const failures = new Counter({
    name: 'market_job_failures_total',
    help: 'Jobs and sweeps that failed',
    labelNames: ['task'],
    registers: [registry],
  })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const perNetwork = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['network'], registers: [registry] })
  const waiting = gauge('market_jobs_waiting', 'Jobs that are due and not started')
  const oldest = gauge('market_jobs_oldest_seconds', 'Age of the oldest one')
  const running = gauge('market_jobs_running', 'Jobs that are running')
  const failing = gauge('market_jobs_failing', 'Jobs that failed and will be retried')

  const payoutGauges = {
    waiting: perNetwork('market_payouts_waiting', 'Payouts that were requested and have not ended'),
    oldestSeconds: perNetwork('market_payouts_oldest_seconds', 'Age of the oldest one'),
    held: perNetwork('market_payouts_held', 'Payouts that are on hold'),
    failed: perNetwork('market_payouts_failed', 'Payouts that an operator must check'),
    short: perNetwork('market_treasury_short_micros', 'Amount that is missing in the treasury'),
    isOpen: perNetwork('market_payouts_open', '1 while payouts are allowed'),
  }
  const updatePayouts = async () => {
    for (const gauge of Object.values(payoutGauges)) gauge.reset()
    const networks = await payoutMetrics(settings.ctx)
    for (const { network, ...payouts } of networks.filter(({ isGuarded }) => isGuarded))
      for (const [name, gauge] of Object.entries(payoutGauges))
        gauge.set({ network }, Number(payouts[name as keyof typeof payoutGauges]))
  }

  const purchases = {
    underWay: perNetwork('market_purchases_under_way', 'Buyer payments that were sent and have not ended'),
    oldestSeconds: perNetwork('market_purchases_oldest_seconds', 'Age of the oldest one'),
  }
  const updatePurchases = async () => {
    for (const gauge of Object.values(purchases)) gauge.reset()
    for (const { network, underWay, oldestSeconds } of await purchaseMetrics(settings.ctx)) {
      purchases.underWay.set({ network }, Number(underWay))
      purchases.oldestSeconds.set({ network }, oldestSeconds)
    }
  }
  const gas = perNetwork('market_gas_settlements_left', 'Settlements that the gas account can still pay for')

  const app = Fastify({ logger: false })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== '/metrics') return
    // Without the database the queue is unknown; the metrics of the process are still served.
    const queue = await queueMetrics(settings.ctx).catch(() => UNKNOWN)
    waiting.set(queue.waiting)
    oldest.set(queue.oldestSeconds)
    running.set(queue.running)
    failing.set(queue.failing)
    // A missing metric is noticed, an old value would be taken for current.
    await Promise.allSettled([updatePayouts(), updatePurchases()])
  })
  mountHealth(app, { isReady: settings.isReady, isDraining: settings.isStopping })
  mountMetrics(app, metrics, settings.readers)
  const address = await app.listen({ host: settings.host, port: settings.port })
  return {
    address,
    countFailure: (task: string) => failures.inc({ task }),
    recordGas: (metrics: readonly GasMetrics[]) => {
      gas.reset()
      for (const { network, settlementsLeft } of metrics) gas.set({ network }, settlementsLeft)
    },
    stop: () => app.close(),
  }
}
