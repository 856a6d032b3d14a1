import { maintainEventPartitions } from '@market/core/events'
import { deleteOldRequests } from '@market/core/idempotency'
import { deleteReplacedJobs, retryFailedJobsSoon } from '@market/core/queue'
import { deleteOldSignatures } from '@market/core/signatures'
import { enqueueOverdueDeliveries, maintainDeliveryPartitions } from '@market/identity/webhooks'
import { maintainLedgerPartitions } from '@market/money/ledger'
import { applyDueTransitions } from '@market/trade/orders'
import type { JobContext } from './job.ts'

/** What is done again and again by every worker; each is safe to do twice at once. */
export interface Sweep<Ctx> {
  readonly name: string
  readonly everyMs: number
  readonly run: (ctx: Ctx, log: SweepLog) => Promise<unknown>
}

export interface SweepLog {
  error(fields: object, message: string): void
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

export const HOUSE_SWEEPS: readonly Sweep<JobContext>[] = [
  { name: 'enqueue-overdue-deliveries', everyMs: 5 * SECOND, run: enqueueOverdueDeliveries },
  { name: 'retry-failed-jobs', everyMs: 5 * SECOND, run: retryFailedJobsSoon },
  { name: 'apply-due-transitions', everyMs: 2 * SECOND, run: applyDueTransitions },
  { name: 'delete-replaced-jobs', everyMs: MINUTE, run: deleteReplacedJobs },
  { name: 'delete-old-requests', everyMs: MINUTE, run: deleteOldRequests },
  { name: 'delete-old-signatures', everyMs: MINUTE, run: deleteOldSignatures },
  { name: 'maintain-event-partitions', everyMs: 60 * MINUTE, run: maintainEventPartitions },
  { name: 'maintain-ledger-partitions', everyMs: 60 * MINUTE, run: maintainLedgerPartitions },
  { name: 'maintain-delivery-partitions', everyMs: 60 * MINUTE, run: maintainDeliveryPartitions },
]

/** Starts each sweep at once and then at its own pace, never over itself. */
export function startSweeps<Ctx>(
  ctx: Ctx,
  sweeps: readonly Sweep<Ctx>[],
  log: SweepLog,
  onFailure: (name: string) => void,
  maxIntervalMs = Number.POSITIVE_INFINITY,
) {
  const running = new Map<string, Promise<unknown>>()
  const sweep = ({ name, run }: Sweep<Ctx>) => {
    if (running.has(name)) return
    const work = run(ctx, log)
      .catch((error) => {
        onFailure(name)
        log.error({ err: error, sweep: name }, 'sweep failed')
      })
      .finally(() => running.delete(name))
    running.set(name, work)
  }
  for (const each of sweeps) sweep(each)
  const timers = sweeps.map((each) => setInterval(() => sweep(each), Math.min(each.everyMs, maxIntervalMs)))
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running.values())
    },
  }
}
