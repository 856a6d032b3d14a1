import { type AuditCheck, checkAudit } from '@market/core/audit'
import { findUnopenableWallets } from '@market/core/custody'
import type { ObjectStore } from '@market/core/ports/object-store'
import type { ReserveAnchors, ReserveSigners } from '@market/core/ports/reserve-anchor'
import { endOldTransactions } from '@market/core/queue'
import type { SignerContext } from '@market/custody/wallets'
import { type MoneyContext, openPools, type PauseReason, readPools } from '@market/earn/pools'
import { findEarnHolders } from '@market/earn/withdrawals'
import { SECOND } from '@market/kernel/clock'
import { decideFinality } from '@market/money/follower'
import { type Purposes, recheckTransfers } from '@market/money/payments'
import { findCounterDrift, payoutLimitMetrics, payoutMetrics } from '@market/money/payouts'
import { anchorReserves, signAnchors } from '@market/reserves/anchors'
import { checkReserves, MissingInNewBlocks } from '@market/reserves/snapshots'
import { FEW_SETTLEMENTS, type GasMetrics, gasMetrics } from '@market/trade/x402'
import { perNetwork } from './per-network.ts'
import type { SweepLog } from './start-sweeps.ts'
import type { JobContext } from './tasks.ts'

type Network = keyof JobContext['chains']

export type SecurityLevel = 'info' | 'error'

export type SweepContext = JobContext &
  SignerContext &
  MoneyContext & {
    readonly purposes: Purposes
    /** Starts the payouts that are due. */
    readonly advancePayouts: () => Promise<unknown>
    readonly submitPayouts: () => Promise<unknown>
    readonly recordGas: (metrics: readonly GasMetrics[]) => void
    /** Where this process can publish the roots of the reserves. */
    readonly reserveAnchors: ReserveAnchors
    /** The EVM treasuries whose keys this process has. */
    readonly reserveSigners: ReserveSigners
    readonly countDisagreement: (network: Network) => void
    readonly recordAudit: (check: AuditCheck) => void
    /** Writes one line of the security log, whatever `LOG_LEVEL` is. */
    readonly onSecurityEvent: (event: object, level: SecurityLevel) => void
    readonly objects: ObjectStore
  }

/** Operators set alerts on these log lines. Until the cause is gone, nothing more becomes final on this network. */
export const reportFinality = (ctx: SweepContext, log: SweepLog): Promise<void> =>
  perNetwork(async (all, network) => {
    try {
      await decideFinality(all, network, ({ providers, unexplained }) => {
        ctx.countDisagreement(network)
        if (unexplained === 0n) log.error({ network, providers }, 'the providers disagree about final blocks')
        else
          log.error(
            { network, unexplained_micros: String(unexplained) },
            'the transfers of the final blocks do not explain the balance of the treasury',
          )
      })
    } catch (error) {
      // Too few providers answer, or what they have is too old.
      ctx.countDisagreement(network)
      throw error
    }
  })(ctx)

/** Operators set alerts on this log line too. */
export async function reportRecheck(ctx: SweepContext, log: SweepLog): Promise<void> {
  await recheckTransfers(ctx, ctx.purposes, ({ network, reference, providers }) => {
    ctx.countDisagreement(network)
    log.error({ network, reference, providers }, 'the providers disagree about a transfer')
  })
}

/** Operators set alerts on these log lines. */
export async function reportReserves(ctx: SweepContext, log: SweepLog): Promise<void> {
  const reports = await checkReserves({ ...ctx, earnHolders: findEarnHolders })
  for (const { network, error } of reports)
    if (error instanceof MissingInNewBlocks)
      log.error({ network, reason: error.message }, 'money left in new blocks; payouts on this network wait')
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
export async function reportHeldPayouts(ctx: JobContext, log: SweepLog): Promise<void> {
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

/** Operators set alerts on this log line: caps and the balance check are decided by wrong figures. */
export async function reportCounters({ db }: JobContext, log: SweepLog): Promise<void> {
  const drift = await findCounterDrift(db)
  if (drift.length > 0) log.error({ counters: drift }, 'payout counters are not the sum over payouts')
}

/** Operators set an alert on the security event: a request never holds a transaction open for a minute. */
export async function reportOldTransactions(ctx: SweepContext): Promise<void> {
  const ended = await endOldTransactions(ctx)
  if (ended > 0) ctx.onSecurityEvent({ event: 'database.transactions_ended', ended }, 'error')
}

/** Operators set an alert on this log line: a pool of Earn takes no deposits until its venue is healthy. */
export async function reportPools(ctx: SweepContext, log: SweepLog): Promise<void> {
  const onPaused = (pool: string, reason: PauseReason) => {
    const fields = { pool, reason }
    ctx.onSecurityEvent({ event: 'earn.paused', ...fields }, 'error')
    log.error(fields, 'a pool of Earn is paused')
  }
  await openPools(ctx, { onPaused })
  await readPools(ctx, { onPaused })
}

/** Without an anchor, the roots of the last days could be replaced unnoticed. */
export async function reportAnchors(ctx: SweepContext, log: SweepLog): Promise<void> {
  const report = await anchorReserves(ctx)
  if (report === undefined) return
  const ageSeconds = Math.floor(report.ageMs / SECOND)
  if (report.isOverdue)
    log.error({ age_seconds: ageSeconds }, 'the roots of the reserves were not anchored for 36 hours')
}

/** Apart from publishing, so that a key that cannot be used delays no anchor. */
export async function signReserves(ctx: SweepContext): Promise<void> {
  const signers = Object.values(ctx.reserveSigners)
  const results = await Promise.allSettled(signers.map((signer) => signAnchors(ctx, signer)))
  const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Not every treasury could sign')
}

/** Operators set an alert on the error. The head is exported with the log, where this database cannot change it. */
export async function reportAudit(ctx: SweepContext): Promise<void> {
  const check = await checkAudit(ctx)
  ctx.recordAudit(check)
  const { head, brokenAt } = check
  // The redaction of logs leaves a field named `hash` alone.
  const exported = { seq: String(head.seq), hash: head.seal.toString('hex') }
  if (brokenAt === undefined) return ctx.onSecurityEvent({ event: 'audit.head', ...exported }, 'info')
  ctx.onSecurityEvent({ event: 'audit.broken', broken_at: String(brokenAt), ...exported }, 'error')
}

/** Operators set alerts on this log line: a seed that is sealed to a lost key is lost. */
export async function reportUnopenableWallets(ctx: SweepContext, log: SweepLog): Promise<void> {
  const wallets = await findUnopenableWallets(ctx)
  if (wallets.length > 0)
    log.error(
      { count: wallets.length, newest: wallets[0] },
      'server wallets are sealed to a key that this worker does not have',
    )
}

/** Signed payments are rejected when a gas account is empty, so the log warns before. */
export async function reportGas(ctx: SweepContext, log: SweepLog): Promise<void> {
  const metrics = await gasMetrics(ctx)
  ctx.recordGas(metrics)
  for (const { network, settlementsLeft } of metrics)
    if (settlementsLeft < FEW_SETTLEMENTS)
      log.error({ network, settlements_left: settlementsLeft }, 'the gas account is nearly empty')
}
