import { type ReversalHandlers, recheckTransfers, watchTreasury } from '@market/money/payments'
import { compareOutgoingTransfers } from '@market/money/payouts'
import { deleteOldSnapshots, keepReserves } from '@market/money/reserves'
import { finishPayments, undoPayment } from '@market/trade/orders'
import {
  deleteVoidPurchases,
  findReplacementTx,
  finishPurchases,
  sendUnmined,
  undoRegistration,
} from '@market/trade/x402'
import type { JobContext } from './job.ts'
import type { Sweep, SweepLog } from './sweeps.ts'

type Network = keyof JobContext['chains']

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** What a worker keeps doing on the networks it is connected to: see what came, what left, and whether all is there. */
export const MONEY_SWEEPS: readonly Sweep<JobContext>[] = [
  { name: 'compare-outgoingTransfers', everyMs: 2 * SECOND, run: onEachNetwork(compareOutgoingTransfers) },
  { name: 'watch-treasuries', everyMs: 5 * SECOND, run: onEachNetwork(watchTreasury) },
  { name: 'finish-payments', everyMs: 2 * SECOND, run: finish },
  { name: 'finish-purchases', everyMs: 2 * SECOND, run: finishPurchases },
  { name: 'send-unmined', everyMs: 10 * SECOND, run: sendUnmined },
  { name: 'recheck-transfers', everyMs: 5 * SECOND, run: recheck },
  // Often, for payouts wait for it after the database came up; how often it really counts, the database says.
  { name: 'keep-reserves', everyMs: 5 * SECOND, run: countReserves },
  { name: 'forget-old-looks', everyMs: HOUR, run: deleteOldSnapshots },
  { name: 'forget-purchases', everyMs: HOUR, run: deleteVoidPurchases },
]

/** A network in trouble keeps no other one waiting; its trouble is told at the end. */
function onEachNetwork(work: (ctx: JobContext, network: Network) => Promise<unknown>) {
  return async (ctx: JobContext): Promise<void> => {
    const networks = Object.keys(ctx.chains) as Network[]
    const done = await Promise.allSettled(networks.map((network) => work(ctx, network)))
    const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'Not every network could be read')
  }
}

/** What a program's buyer signed is looked for wherever it may have come to the chain. */
function finish(ctx: JobContext): Promise<number> {
  return finishPayments(ctx, (order, payment) => findReplacementTx(ctx, order, payment))
}

const REVERSALS = { order: undoPayment, registration: undoRegistration } satisfies ReversalHandlers

/** A payment that the chain reversed is reversed in the order or registration that it paid for. */
function recheck(ctx: JobContext): Promise<number> {
  return recheckTransfers(ctx, REVERSALS)
}

/** Somebody must be woken when money is missing: the line is what alerts are set on. */
async function countReserves(ctx: JobContext, log: SweepLog): Promise<void> {
  const reports = await keepReserves(ctx)
  for (const { network, shortMicros, imbalance, isNew } of reports)
    if (isNew && (shortMicros > 0n || imbalance !== 0n))
      log.error(
        { network, short_micros: String(shortMicros), imbalance_micros: String(imbalance) },
        'the treasury does not hold what it must; payouts on this network are paused',
      )
  const troubles = reports.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble]))
  if (troubles.length > 0) throw new AggregateError(troubles, 'Not every treasury could be looked at')
}
