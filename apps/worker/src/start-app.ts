import { connect, openPool } from '@market/database/connect'
import { latestMigration } from '@market/database/migrations'
import { hasMigration } from '@market/database/ping'
import { startPayingOut } from '@market/jobs/pay-out'
import { startRunner } from '@market/jobs/runner'
import { HOUSE_SWEEPS, startSweeps } from '@market/jobs/sweeps'
import { taskList } from '@market/jobs/tasks'
import { watchGas } from '@market/jobs/watch-gas'
import { MONEY_SWEEPS } from '@market/jobs/watch-money'
import { type Clock, systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { clockFromFile } from '@market/platform/settings/clock-file'
import { outboundFrom } from '@market/platform/settings/outbound'
import { createLogger } from '@market/platform/telemetry/logger'
import { startTraces } from '@market/platform/telemetry/traces'
import { localVault } from '@market/platform/vault/local-vault'
import { orderPayoutListener } from '@market/trade/orders'
import type { Config } from './config.ts'
import { serveFigures } from './figures.ts'
import { openPayoutSenders } from './payout-senders.ts'

/** Puts the worker together. Reads top to bottom: foundations, ports, jobs. */
export async function startApp(config: Config) {
  const log = createLogger({ level: config.LOG_LEVEL, name: 'worker' })
  const traces = await startTraces({
    service: 'agent-market-worker',
    ...(config.TRACES_ENDPOINT !== undefined && { endpoint: config.TRACES_ENDPOINT }),
  })
  const connection = {
    url: config.DATABASE_URL,
    maxConnections: config.DATABASE_POOL,
    applicationName: 'agent-market-worker',
    onIdleError: (error: Error) => log.warn({ reason: error.message }, 'a database connection broke'),
  }
  const db = connect({
    ...connection,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS ? 'all' : 'none',
    pipeline: config.DATABASE_PIPELINE,
    onLostStatement: (error) =>
      log.warn({ reason: error.message }, 'a prepared statement was lost: none is prepared from now on'),
  })
  // The engine takes and completes jobs; after a crash of Postgres a job may run twice, which jobs allow for.
  const pool = openPool({
    ...connection,
    applicationName: 'agent-market-jobs',
    plainTypes: true,
    withoutFlush: true,
  })
  const networks = await openPayoutSenders(config, log)
  const clock: Clock = config.CLOCK_FILE === undefined ? systemClock : clockFromFile(config.CLOCK_FILE)
  const ctx = {
    db,
    clock,
    ids: idSource(clock, config.CELL),
    vault: localVault({ keys: config.VAULT_KEYS, pepper: config.VAULT_PEPPER }),
    outbound: outboundFrom(config),
    chains: networks.chains,
    facilitators: networks.facilitators,
  }
  const { PAYOUT_CAP_USDC: perPayout, PAYOUT_DAY_CAP_USDC: perDay, SOLANA_COST_CAP } = config
  const caps = { perPayout, perDay, cost: { 'solana-mainnet': BigInt(SOLANA_COST_CAP) } }

  let stopping = false
  const figures = await serveFigures({
    host: config.HOST,
    port: config.PORT,
    readers: config.METRICS_READERS,
    ctx,
    isReady: () => hasMigration(db, latestMigration()),
    isStopping: () => stopping,
  })
  const payingOut = startPayingOut(
    { ...ctx, payoutSenders: networks.payoutSenders, payoutListener: orderPayoutListener, caps },
    log,
    figures.noteFailure,
  )
  const runner = await startRunner({
    pool,
    ctx,
    tasks: taskList(ctx, { stopping: () => stopping }),
    concurrency: config.JOB_CONCURRENCY,
    log,
    onFailure: figures.noteFailure,
  })
  const sweeps = startSweeps(ctx, HOUSE_SWEEPS, log, figures.noteFailure, config.SWEEP_INTERVAL_MS)
  const money = [...MONEY_SWEEPS, watchGas(figures.noteGas)]
  const watching = startSweeps(ctx, money, log, figures.noteFailure, config.SWEEP_INTERVAL_MS)

  return {
    log,
    address: figures.address,
    ended: Promise.race([runner.ended, networks.broken]),
    /** Takes no more jobs, brings those that run to a good place, and ends. */
    stop: async () => {
      stopping = true
      networks.stop()
      await runner.stop()
      await payingOut.stop()
      await Promise.all([sweeps.stop(), watching.stop()])
      await figures.stop()
      await Promise.allSettled([db.destroy(), pool.end(), traces.stop()])
    },
  }
}
