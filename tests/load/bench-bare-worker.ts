import { openPool } from '@market/database/connect'
import { outboundFrom } from '@market/platform/settings/outbound'
import { Logger, run } from 'graphile-worker'

/** The yardstick: the job engine with our settings, one job per webhook, the same guarded POST, nothing written down. */
const env = (name: string): string => process.env[name] ?? ''
const concurrency = Number(env('JOB_CONCURRENCY'))
const outbound = outboundFrom({
  DNS_SERVERS: [env('DNS_SERVERS')],
  OUTBOUND_REROUTE: [env('OUTBOUND_REROUTE')],
  OUTBOUND_CA_FILE: env('OUTBOUND_CA_FILE'),
})
const pool = openPool({ url: env('DATABASE_URL'), maxConnections: Number(env('DATABASE_POOL')) })

await run({
  pgPool: pool,
  taskList: {
    post: async (payload) => {
      const { url, headers, body } = payload as { url: string; headers: Record<string, string>; body: string }
      const { status } = await outbound.post({ url, headers, body, timeoutMs: 5_000 })
      if (status >= 300) throw new Error(`answered ${status}`)
    },
  },
  parsedCronItems: [],
  logger: new Logger(() => () => {}),
  preset: {
    worker: {
      concurrentJobs: concurrency,
      pollInterval: 250,
      localQueue: { size: concurrency + 1 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1e6)
})
process.on('disconnect', () => process.exit(0))
process.send?.('working')
