import { type AuditCheck, checkAudit } from '@market/core/audit'
import { findUnopenableWallets } from '@market/core/custody'
import { maintainEventPartitions } from '@market/core/events'
import { deleteOldRequests } from '@market/core/idempotency'
import { deleteOldNotifications } from '@market/core/notifications'
import { TooFewProviders } from '@market/core/ports/chain'
import type { ReserveAnchors } from '@market/core/ports/reserve-anchor'
import type { SeedOpener } from '@market/core/ports/vault'
import { deleteReplacedJobs, retryFailedJobsSoon } from '@market/core/queue'
import { deleteOldSignatures } from '@market/core/signatures'
import { foldNames } from '@market/identity/agents'
import { deleteOldRecords } from '@market/identity/oauth'
import { enqueueOverdueDeliveries, maintainDeliveryPartitions } from '@market/identity/webhooks'
import { HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import { maintainLedgerPartitions } from '@market/money/ledger'
import { checkIntents, type Purposes, recheckTransfers, watchTreasury } from '@market/money/payments'
import { compareOutgoingTransfers, payoutLimitMetrics, payoutMetrics } from '@market/money/payouts'
import { anchorReserves, checkReserves, deleteOldSnapshots, ProvidersDisagree } from '@market/money/reserves'
import { applyDueTransitions } from '@market/trade/orders'
import { deleteVoidPurchases, type GasMetrics, gasMetrics, sendUnmined } from '@market/trade/x402'
import type { Sweep, SweepLog } from './start-sweeps.ts'
import type { JobContext } from './tasks.ts'

type Network = keyof JobContext['chains']

export type SecurityLevel = 'info' | 'error'

export type SweepContext = JobContext & {
  readonly purposes: Purposes
  readonly recordGas: (metrics: readonly GasMetrics[]) => void
  /** Where this process can publish the roots of the reserves. */
  readonly reserveAnchors: ReserveAnchors
  readonly recordAnchorAge: (seconds: number) => void
  readonly countDisagreement: (network: Network) => void
  readonly recordAudit: (check: AuditCheck) => void
  /** Writes one line of the security log, whatever `LOG_LEVEL` is. */
  readonly onSecurityEvent: (event: object, level: SecurityLevel) => void
  readonly seeds: SeedOpener
}

/** Below this number of settlements an operator must add gas. */
const FEW_SETTLEMENTS = 200

export const SWEEPS: readonly Sweep<SweepContext>[] = [
  {
    name: 'apply-due-transitions',
    everyMs: 2 * SECOND,
    does: 'Applies the deadlines of orders: expires, approves or cancels them',
    run: applyDueTransitions,
  },
  {
    name: 'check-intents',
    everyMs: 2 * SECOND,
    does: 'Completes what waits for a payment when it is confirmed, and ends the wait when it never can be',
    run: (ctx) => checkIntents(ctx, ctx.purposes),
  },
  {
    name: 'send-unmined',
    everyMs: 10 * SECOND,
    does: 'Replaces x402 settlements that are not mined with a higher fee at the same nonce',
    run: sendUnmined,
  },
  {
    name: 'watch-treasuries',
    everyMs: 5 * SECOND,
    does: 'Records new transfers into each treasury',
    run: perNetwork(watchTreasury),
  },
  {
    name: 'recheck-transfers',
    everyMs: 5 * SECOND,
    does: 'Checks recorded transfers until they are final, and reverses those that the chain dropped',
    run: reportRecheck,
  },
  {
    name: 'compare-outgoing-transfers',
    everyMs: 2 * SECOND,
    does: 'Matches transfers out of each treasury with payouts, and pauses payouts when one has no match',
    run: perNetwork(compareOutgoingTransfers),
  },
  {
    // Payouts stay paused after a database restart until this has run; checkReserves itself limits how often it reads the chain.
    name: 'check-reserves',
    everyMs: 5 * SECOND,
    does: 'Compares each treasury with the ledger about every 30 s, and pauses payouts when money is missing',
    run: reportReserves,
  },
  {
    name: 'check-payouts',
    everyMs: 10 * SECOND,
    does: 'Reports payouts that the ledger or their order does not justify, and a used-up budget of native coin',
    run: reportHeldPayouts,
  },
  {
    name: 'anchor-reserves',
    everyMs: MINUTE,
    does: "Publishes the roots of the day's reserve snapshots in a memo on Solana",
    run: reportAnchors,
  },
  {
    name: 'verify-audit',
    everyMs: HOUR,
    does: 'Verifies the whole audit log and writes its head into the security log',
    run: reportAudit,
  },
  {
    name: 'check-gas',
    everyMs: MINUTE,
    does: 'Measures how many x402 settlements the gas accounts can pay for',
    run: reportGas,
  },
  {
    name: 'check-wallet-seals',
    everyMs: MINUTE,
    does: 'Reports new server wallets whose seed this worker has no key to open',
    run: reportUnopenableWallets,
  },
  {
    name: 'enqueue-overdue-deliveries',
    everyMs: 5 * SECOND,
    does: 'Enqueues webhook deliveries that are due and have no job',
    run: enqueueOverdueDeliveries,
  },
  {
    name: 'retry-failed-jobs',
    everyMs: 5 * SECOND,
    does: 'Limits the wait before failed jobs are tried again',
    run: retryFailedJobsSoon,
  },
  {
    name: 'fold-names',
    everyMs: MINUTE,
    does: 'Makes names from before migration 0042 unique by how they look: the older of two agents keeps its name',
    run: reportFoldedNames,
  },
  {
    name: 'delete-replaced-jobs',
    everyMs: MINUTE,
    does: 'Deletes jobs that were replaced while a dead worker had them locked',
    run: deleteReplacedJobs,
  },
  {
    name: 'delete-old-requests',
    everyMs: MINUTE,
    does: 'Deletes stored responses of idempotent requests after their time',
    run: deleteOldRequests,
  },
  {
    name: 'delete-old-signatures',
    everyMs: MINUTE,
    does: 'Deletes used wallet signatures that are too old to be replayed',
    run: deleteOldSignatures,
  },
  {
    name: 'delete-old-notifications',
    everyMs: HOUR,
    does: 'Deletes notifications after 90 days',
    run: deleteOldNotifications,
  },
  {
    name: 'delete-old-oauth-records',
    everyMs: HOUR,
    does: 'Deletes expired codes and tokens of connected programs, and programs that nobody connected for 30 days',
    run: deleteOldRecords,
  },
  {
    name: 'delete-old-snapshots',
    everyMs: HOUR,
    does: 'Deletes reserve snapshots without a proof after a week, and the leaves of old proofs (of daily ones after 90 days)',
    run: deleteOldSnapshots,
  },
  {
    name: 'delete-void-purchases',
    everyMs: HOUR,
    does: 'Deletes x402 purchases that were never paid',
    run: deleteVoidPurchases,
  },
  {
    name: 'maintain-event-partitions',
    everyMs: HOUR,
    does: 'Creates the next monthly partitions of events and drops old ones',
    run: maintainEventPartitions,
  },
  {
    name: 'maintain-ledger-partitions',
    everyMs: HOUR,
    does: 'Creates the next monthly partitions of the ledger',
    run: maintainLedgerPartitions,
  },
  {
    name: 'maintain-delivery-partitions',
    everyMs: HOUR,
    does: 'Creates the next monthly partitions of webhook deliveries and drops old ones',
    run: maintainDeliveryPartitions,
  },
]

/** An error on one network does not stop the others; all errors are thrown at the end. */
function perNetwork(run: (ctx: JobContext, network: Network) => Promise<unknown>) {
  return async (ctx: JobContext): Promise<void> => {
    const networks = Object.keys(ctx.chains) as Network[]
    const results = await Promise.allSettled(networks.map((network) => run(ctx, network)))
    const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'Not every network could be read')
  }
}

/** Operators set alerts on this log line: one of these providers is wrong about the final chain. */
async function reportRecheck(ctx: SweepContext, log: SweepLog): Promise<void> {
  await recheckTransfers(ctx, ctx.purposes, ({ network, reference, providers }) => {
    ctx.countDisagreement(network)
    log.error({ network, reference, providers }, 'the providers disagree about a transfer')
  })
}

/** Operators set alerts on these log lines. */
async function reportReserves(ctx: SweepContext, log: SweepLog): Promise<void> {
  const reports = await checkReserves(ctx)
  for (const { network, error } of reports)
    if (error instanceof ProvidersDisagree || error instanceof TooFewProviders) {
      ctx.countDisagreement(network)
      log.error({ network, reason: error.message }, 'the providers disagree; payouts on this network wait')
    }
  for (const { network, shortMicros, imbalance, isNew } of reports)
    if (isNew && (shortMicros > 0n || imbalance !== 0n))
      log.error(
        { network, short_micros: String(shortMicros), imbalance_micros: String(imbalance) },
        'the treasury does not hold what it must; payouts on this network are paused',
      )
  const errors = reports.flatMap(({ error }) => (error === undefined ? [] : [error]))
  if (errors.length > 0) throw new AggregateError(errors, 'Not every treasury could be read')
}

/** Operators set alerts on these log lines. The first: somebody or something wrote payouts that nobody requested. */
async function reportHeldPayouts(ctx: JobContext, log: SweepLog): Promise<void> {
  for (const { network, unjustified } of await payoutMetrics(ctx))
    if (unjustified > 0)
      log.error(
        { network, payouts: unjustified },
        'payouts are held that the ledger or their order does not justify',
      )
  for (const { network, nativeSpent, heldBy } of await payoutLimitMetrics(ctx))
    if (heldBy.gas_budget !== undefined)
      log.error(
        { network, held: heldBy.gas_budget, native_spent: String(nativeSpent) },
        'the budget of native coin is used up; payouts on this network wait',
      )
}

/** Without an anchor, the roots of the last days could be replaced unnoticed. */
async function reportAnchors(ctx: SweepContext, log: SweepLog): Promise<void> {
  const report = await anchorReserves(ctx)
  if (report === undefined) return
  const ageSeconds = Math.floor(report.ageMs / SECOND)
  ctx.recordAnchorAge(ageSeconds)
  if (report.isOverdue)
    log.error({ age_seconds: ageSeconds }, 'the roots of the reserves were not anchored for 36 hours')
}

/** Operators set an alert on the error. The head is exported with the log, where this database cannot change it. */
async function reportAudit(ctx: SweepContext): Promise<void> {
  const check = await checkAudit(ctx)
  ctx.recordAudit(check)
  const { head, brokenAt } = check
  // The redaction of logs leaves a field named `hash` alone.
  const exported = { seq: String(head.seq), hash: head.seal.toString('hex') }
  if (brokenAt === undefined) return ctx.onSecurityEvent({ event: 'audit.head', ...exported }, 'info')
  ctx.onSecurityEvent({ event: 'audit.broken', broken_at: String(brokenAt), ...exported }, 'error')
}

/** Operators set alerts on this log line: a seed that is sealed to a lost key is lost. */
async function reportUnopenableWallets(ctx: SweepContext, log: SweepLog): Promise<void> {
  const wallets = await findUnopenableWallets(ctx)
  if (wallets.length > 0)
    log.error(
      { count: wallets.length, newest: wallets[0] },
      'server wallets are sealed to a key that this worker does not have',
    )
}

/** Names that new agents could not have stay; an operator may talk to their owners. */
async function reportFoldedNames(ctx: JobContext, log: SweepLog): Promise<void> {
  const { folded, renamed, notAllowed } = await foldNames(ctx)
  if (renamed.length > 0 || notAllowed.length > 0)
    log.error(
      { folded, renamed, not_allowed: notAllowed },
      'names of existing agents look like others or are not allowed any more',
    )
}

/** Signed payments are rejected when a gas account is empty, so the log warns before. */
async function reportGas(ctx: SweepContext, log: SweepLog): Promise<void> {
  const metrics = await gasMetrics(ctx)
  ctx.recordGas(metrics)
  for (const { network, settlementsLeft } of metrics)
    if (settlementsLeft < FEW_SETTLEMENTS)
      log.error({ network, settlements_left: settlementsLeft }, 'the gas account is nearly empty')
}
