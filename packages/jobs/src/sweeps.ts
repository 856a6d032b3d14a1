import { keepEventMonths } from '@market/core/events'
import { forgetReplaced, hurryFailed } from '@market/core/queue'
import { forgetOldRequests } from '@market/core/requests'
import { keepDeliveryMonths, wakeDeliveryQueues } from '@market/identity/webhooks'
import { keepLedgerMonths } from '@market/money/ledger'
import { moveDueOrders } from '@market/trade/orders'
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
  { name: 'wake-lanes', everyMs: 5 * SECOND, run: wakeDeliveryQueues },
  { name: 'hurry-failed', everyMs: 5 * SECOND, run: hurryFailed },
  { name: 'move-due-orders', everyMs: 2 * SECOND, run: moveDueOrders },
  { name: 'forget-replaced-jobs', everyMs: MINUTE, run: forgetReplaced },
  { name: 'forget-old-requests', everyMs: MINUTE, run: forgetOldRequests },
  { name: 'keep-event-months', everyMs: 60 * MINUTE, run: keepEventMonths },
  { name: 'keep-ledger-months', everyMs: 60 * MINUTE, run: keepLedgerMonths },
  { name: 'keep-delivery-months', everyMs: 60 * MINUTE, run: keepDeliveryMonths },
]

/** Starts each sweep at once and then at its own pace, never over itself. */
export function startSweeps<Ctx>(
  ctx: Ctx,
  sweeps: readonly Sweep<Ctx>[],
  log: SweepLog,
  onFailure: (name: string) => void,
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
  const timers = sweeps.map((each) => setInterval(() => sweep(each), each.everyMs))
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running.values())
    },
  }
}
