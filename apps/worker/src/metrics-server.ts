import type { AuditCheck } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { findUnopenableWallets } from '@market/core/custody'
import type { SeedOpener } from '@market/core/ports/vault'
import { queueMetrics } from '@market/core/queue'
import { listSwitches } from '@market/core/switches'
import { poolMetrics } from '@market/earn/pools'
import { mountHealth } from '@market/http/health'
import { countResponses, createMetrics, mountMetrics } from '@market/http/metrics'
import { countDropped } from '@market/identity/webhooks'
import { HOUR, later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { findFinalHeights } from '@market/money/follower'
import { totals } from '@market/money/ledger'
import { payoutLimitMetrics, payoutMetrics, sumMovingToCold } from '@market/money/payouts'
import { anchorAgeMs } from '@market/reserves/anchors'
import { snapshotAges } from '@market/reserves/snapshots'
import { type GasMetrics, purchaseMetrics } from '@market/trade/x402'
import Fastify from 'fastify'
import { Counter, Gauge } from 'prom-client'

interface MetricsServerSettings {
  readonly host: string
  readonly port: number
  readonly readers: readonly string[]
  readonly ctx: Needs<'db' | 'clock'> & { readonly seeds: SeedOpener }
  /** The networks that this process reads. One that is no longer used must not look unread. */
  readonly networks: () => readonly Network[]
  /** Whether this process can publish the roots of the reserves. */
  readonly canAnchor: () => boolean
  /** The most that a treasury should hold; undefined means no limit. */
  readonly hotMax: Readonly<Partial<Record<Network, Usdc | undefined>>>
  readonly whyNotReady: () => Promise<string | undefined>
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
    unjustified: perNetwork(
      'market_payouts_unjustified',
      'Payouts that the ledger or their order does not justify',
    ),
    short: perNetwork('market_treasury_short_micros', 'Amount that is missing in the treasury'),
    isOpen: perNetwork('market_payouts_open', '1 while payouts are allowed'),
  }
  const updatePayouts = async () => {
    for (const gauge of Object.values(payoutGauges)) gauge.reset()
    // A network that this marketplace does not use must not look closed; its payouts are still counted.
    for (const { network, isGuarded, ...payouts } of await payoutMetrics(settings.ctx))
      for (const [name, gauge] of Object.entries(payoutGauges))
        if (isGuarded || name !== 'isOpen')
          gauge.set({ network }, Number(payouts[name as keyof typeof payoutGauges]))
  }

  const switches = new Gauge({
    name: 'market_switch_on',
    help: '1 while the emergency switch is on',
    labelNames: ['switch'],
    registers: [registry],
  })
  const updateSwitches = async () => {
    switches.reset()
    for (const { name, onSince } of await listSwitches(settings.ctx))
      switches.set({ switch: name }, onSince === null ? 0 : 1)
  }

  const nativeSpent = perNetwork(
    'market_payouts_native_spent',
    'Native coin that payouts cost in 24 hours, in wei or lamports',
  )
  const heldByCode = new Gauge({
    name: 'market_payouts_held_by_code',
    help: 'Payouts that are on hold, by hold code',
    labelNames: ['network', 'code'],
    registers: [registry],
  })
  const updateLimits = async () => {
    nativeSpent.reset()
    heldByCode.reset()
    for (const { network, nativeSpent: spent, heldBy } of await payoutLimitMetrics(settings.ctx)) {
      nativeSpent.set({ network }, Number(spent))
      for (const [code, count] of Object.entries(heldBy)) heldByCode.set({ network, code }, count)
    }
  }

  const balances = {
    treasury: perNetwork('market_treasury_balance_micros', 'What the treasury must hold'),
    cold: perNetwork('market_treasury_cold_micros', 'What was moved to the cold address'),
    aboveHotMax: perNetwork(
      'market_treasury_above_hot_max_micros',
      'What the treasury holds above its maximum',
    ),
    imbalance: perNetwork(
      'market_ledger_imbalance_micros',
      'Money of the ledger minus what it owes; anything but 0 is a bug',
    ),
  }
  const updateBalances = async () => {
    for (const network of NETWORKS) {
      const { treasuryView, coldView, imbalance } = await totals(settings.ctx.db, network)
      const stays = treasuryView - (await sumMovingToCold(settings.ctx.db, network))
      const max = settings.hotMax[network] ?? stays
      balances.treasury.set({ network }, Number(treasuryView))
      balances.cold.set({ network }, Number(coldView))
      balances.imbalance.set({ network }, Number(imbalance))
      balances.aboveHotMax.set({ network }, Math.max(0, Number(stays - max)))
    }
  }

  const earn = {
    paused: gauge('market_earn_paused_pools', 'Pools of Earn that take no deposits'),
    equity: new Gauge({
      name: 'market_earn_equity_usdc',
      help: 'What the positions of a pool of Earn are worth',
      labelNames: ['pool'],
      registers: [registry],
    }),
    owed: perNetwork('market_earn_owed_usdc', 'What open withdrawals from Earn are worth, and unpaid'),
  }
  const updateEarn = async () => {
    const pools = await poolMetrics(settings.ctx)
    earn.equity.reset()
    earn.paused.set(pools.filter(({ paused }) => paused !== null).length)
    for (const { key, equity } of pools) earn.equity.set({ pool: key }, Number(equity) / 1e6)
    for (const network of NETWORKS) {
      const { liabilities } = await totals(settings.ctx.db, network)
      const queued = pools.reduce((sum, pool) => (pool.network === network ? sum + pool.queued : sum), 0n)
      earn.owed.set({ network }, Number(liabilities.withdrawal + queued) / 1e6)
    }
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
  const dropped = {
    deliveries: gauge(
      'market_webhooks_dropped',
      'Webhooks that were dropped after their last attempt in 24 hours; at most 1,000 are counted',
    ),
    agents: gauge('market_webhooks_dropped_agents', 'Agents that they were for'),
  }
  const updateDropped = async () => {
    for (const gauge of Object.values(dropped)) gauge.set(NaN)
    const agents = await countDropped(settings.ctx)
    dropped.agents.set(agents.length)
    dropped.deliveries.set(agents.reduce((sum, { count }) => sum + count, 0))
  }

  const snapshotAge = perNetwork(
    'market_reserve_snapshot_age_seconds',
    'Age of the newest comparison of the treasury with its chain, by any worker',
  )
  const anchorAge = gauge(
    'market_reserve_anchor_age_seconds',
    'Age of the newest final anchor of the reserves; NaN where this worker cannot publish one',
  )
  const updateReserves = async () => {
    snapshotAge.reset()
    anchorAge.set(NaN)
    for (const { network, ageMs } of await snapshotAges(settings.ctx, settings.networks()))
      snapshotAge.set({ network }, ageMs / SECOND)
    if (settings.canAnchor()) anchorAge.set((await anchorAgeMs(settings.ctx)) / SECOND)
  }

  const finalHeight = perNetwork(
    'market_final_block_height',
    'The last block, or slot, up to which everything is decided',
  )
  const updateFinal = async () => {
    finalHeight.reset()
    const heights = await findFinalHeights(settings.ctx.db)
    for (const network of settings.networks()) {
      const height = heights.get(network)
      if (height !== undefined) finalHeight.set({ network }, Number(height))
    }
  }

  const disagreements = new Counter({
    name: 'market_provider_disagreements_total',
    help: 'Checks in which the providers of a network disagreed, or too few were up to date',
    labelNames: ['network'],
    registers: [registry],
  })

  const unopenable = gauge(
    'market_wallets_unopenable',
    'New server wallets whose seed this worker has no key to open',
  )
  const updateUnopenable = async () => {
    unopenable.set(NaN)
    unopenable.set((await findUnopenableWallets(settings.ctx)).length)
  }

  // A sweep measures these, and one worker at a time runs it. When another worker has newer figures, those of this one end.
  const gas = perNetwork('market_gas_settlements_left', 'Settlements that the gas account can still pay for')
  const auditEntries = gauge('market_audit_entries', 'Entries of the audit log at its last check')
  const auditBroken = gauge('market_audit_broken', '1 when the audit log was changed')
  const gasUntil = endingFigures(3 * MINUTE, () => gas.reset())
  const auditUntil = endingFigures(3 * HOUR, () => {
    auditEntries.set(NaN)
    auditBroken.set(NaN)
  })

  const app = Fastify({ logger: false })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== '/metrics') return
    // Without the database the queue is unknown; the metrics of the process are still served.
    const queue = await queueMetrics(settings.ctx).catch(() => UNKNOWN)
    waiting.set(queue.waiting)
    oldest.set(queue.oldestSeconds)
    running.set(queue.running)
    failing.set(queue.failing)
    const now = settings.ctx.clock.now()
    gasUntil.endAt(now)
    auditUntil.endAt(now)
    // A missing metric is noticed, an old value would be taken for current.
    await Promise.allSettled([
      updatePayouts(),
      updateSwitches(),
      updateLimits(),
      updateBalances(),
      updateEarn(),
      updatePurchases(),
      updateDropped(),
      updateReserves(),
      updateFinal(),
      updateUnopenable(),
    ])
  })
  // Nobody but operators and probes can reach this port, so it says why.
  const health = { whyNotReady: settings.whyNotReady, isDraining: settings.isStopping }
  mountHealth(app, health, { showsReason: true })
  countResponses(app, metrics)
  mountMetrics(app, metrics, { readers: settings.readers, health })
  const address = await app.listen({ host: settings.host, port: settings.port })
  return {
    address,
    registry,
    countFailure: (task: string) => failures.inc({ task }),
    countDisagreement: (network: Network) => disagreements.inc({ network }),
    recordGas: (metrics: readonly GasMetrics[]) => {
      gas.reset()
      for (const { network, settlementsLeft } of metrics) gas.set({ network }, settlementsLeft)
      gasUntil.begin(settings.ctx.clock.now())
    },
    recordAudit: ({ head, brokenAt }: AuditCheck) => {
      auditEntries.set(Number(head.seq))
      auditBroken.set(brokenAt === undefined ? 0 : 1)
      auditUntil.begin(settings.ctx.clock.now())
    },
    stop: () => app.close(),
  }
}

/** Figures that are shown for this long, a few intervals of the sweep that measures them. */
function endingFigures(forMs: number, clear: () => void) {
  let end = new Date(0)
  clear()
  return {
    begin: (now: Date) => {
      end = later(now, forMs)
    },
    endAt: (now: Date) => {
      if (end <= now) clear()
    },
  }
}
