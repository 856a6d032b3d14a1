import { startSweepsNow } from '@market/core/queue'
import { tokenListener } from '@market/custody/tokens'
import { connect, openPool } from '@market/database/connect'
import { requireDurableCommits } from '@market/database/ping'
import { readiness } from '@market/database/readiness'
import { payoutAdvancer } from '@market/jobs/advance-payouts'
import { payoutKinds } from '@market/jobs/payout-kinds'
import type { SecurityLevel, SweepContext } from '@market/jobs/reports'
import { startRunner } from '@market/jobs/runner'
import { sweepEngine, sweepTicks } from '@market/jobs/start-sweeps'
import { SWEEPS } from '@market/jobs/sweeps'
import { jobEngine } from '@market/jobs/tasks'
import { idSource } from '@market/kernel/ids'
import { feeAddressesOf, hotMaxOf, providerWarnings } from '@market/platform/settings/chains'
import { clockFrom } from '@market/platform/settings/clock-file'
import { outboundFrom } from '@market/platform/settings/outbound'
import { storageFrom } from '@market/platform/settings/storage'
import { vaultFrom } from '@market/platform/settings/vault'
import { createLogger } from '@market/platform/telemetry/logger'
import { startTraces } from '@market/platform/telemetry/traces'
import { secretExporter } from '@market/platform/vault/secret-exporter'
import { seedOpener } from '@market/platform/vault/seed-seal'
import type { Config } from './config.ts'
import { startMetricsServer } from './metrics-server.ts'
import { ownerSignatures } from './owner-signatures.ts'
import { PURPOSES } from './payment-handlers.ts'
import { capsFrom, screeningsFrom } from './payout-limits.ts'
import { openPayoutSenders } from './payout-senders.ts'

/** Wires the worker: logs and database first, then adapters, then jobs. */
export async function startApp(config: Config) {
  const log = createLogger({ level: config.LOG_LEVEL, name: 'worker' })
  // Security events are written at every LOG_LEVEL.
  const securityLog = log.child({}, { level: 'info' })
  const traces = await startTraces({
    service: 'agent-market-worker',
    ...(config.TRACES_ENDPOINT !== undefined && { endpoint: config.TRACES_ENDPOINT }),
  })
  const connection = {
    url: config.DATABASE_URL,
    maxConnections: config.DATABASE_POOL,
    applicationName: 'agent-market-worker',
    timeoutFactor: config.TIMEOUT_FACTOR,
    onIdleError: (error: Error) => log.warn({ reason: error.message }, 'a database connection broke'),
  }
  const db = connect({
    ...connection,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS ? 'all' : 'none',
    pipeline: config.DATABASE_PIPELINE,
    onLostStatement: (error) =>
      log.warn(
        { reason: error.message },
        'a prepared statement was lost; prepared statements are off from now on',
      ),
  })
  await requireDurableCommits(db)
  for (const warning of providerWarnings(config)) log.warn(warning)
  // graphile-worker's connections commit without a flush: after a crash of Postgres a job may run twice, which is safe.
  const pool = openPool({
    ...connection,
    applicationName: 'agent-market-jobs',
    plainTypes: true,
    withoutFlush: true,
  })
  const clock = clockFrom(config)
  const networks = await openPayoutSenders(config, log)
  const ctx = {
    db,
    clock,
    ids: idSource(clock, config.CELL),
    vault: vaultFrom(config, config.WALLET_SEAL_PRIVATE_KEYS[0].publicKey),
    outbound: outboundFrom(config),
    chains: networks.chains,
    facilitators: networks.facilitators,
  }
  const caps = capsFrom(config)
  const seeds = seedOpener(config.WALLET_SEAL_PRIVATE_KEYS)

  const whyNotReady = readiness(db, log)
  // A process that is not ready says why in its log, before anybody asks.
  void whyNotReady()

  let stopping = false
  const isStopping = () => stopping
  const metrics = await startMetricsServer({
    host: config.HOST,
    port: config.PORT,
    readers: config.METRICS_READERS,
    ctx: { ...ctx, seeds },
    networks: () => Object.values(networks.chains).map(({ network }) => network),
    canAnchor: () => Object.keys(networks.reserveAnchors).length > 0,
    hotMax: hotMaxOf(config),
    whyNotReady,
    isStopping,
  })
  const payouts = payoutAdvancer(
    {
      ...ctx,
      payoutSenders: networks.payoutSenders,
      payoutKinds: payoutKinds(networks.venues),
      caps,
      feeAddresses: feeAddressesOf(config),
      screenings: screeningsFrom(config),
    },
    log,
    metrics.countFailure,
  )
  const sweepContext: SweepContext = {
    ...ctx,
    purposes: PURPOSES,
    reserveAnchors: networks.reserveAnchors,
    reserveSigners: networks.reserveSigners,
    venues: networks.venues,
    caps,
    seeds,
    exporter: secretExporter,
    baseUrl: config.BASE_URL,
    /** Present while Solana is. */
    get walletSigner() {
      return networks.chains['solana-mainnet'] && networks.walletSigner
    },
    walletCaps: { SOL: BigInt(config.WALLET_DAY_CAP_LAMPORTS), USDC: config.WALLET_DAY_CAP_USDC },
    operationListener: tokenListener,
    signatures: ownerSignatures(config),
    objects: storageFrom(config),
    advancePayouts: payouts.run,
    submitPayouts: payouts.submit,
    recordGas: metrics.recordGas,
    countDisagreement: metrics.countDisagreement,
    recordAudit: metrics.recordAudit,
    onSecurityEvent: (event: object, level: SecurityLevel) => securityLog[level](event, 'security event'),
  }
  const sweepSettings = {
    ctx: sweepContext,
    sweeps: SWEEPS,
    log,
    onFailure: metrics.countFailure,
    maxIntervalMs: config.SWEEP_INTERVAL_MS,
  }
  const runner = await startRunner({
    pool,
    ctx,
    engines: [jobEngine(ctx, { stopping: isStopping }, config.JOB_CONCURRENCY), sweepEngine(sweepSettings)],
    beatWork: sweepTicks(sweepSettings),
    log,
    onFailure: metrics.countFailure,
  })
  await startSweepsNow(
    ctx,
    SWEEPS.map(({ name }) => name),
  )

  return {
    log,
    address: metrics.address,
    ended: Promise.race([runner.ended, networks.broken]),
    /** Starts no more jobs, waits for those that run, and closes all connections. */
    stop: async () => {
      stopping = true
      networks.stop()
      await runner.stop()
      await payouts.stop()
      await metrics.stop()
      await Promise.allSettled([db.destroy(), pool.end(), traces.stop()])
    },
  }
}
