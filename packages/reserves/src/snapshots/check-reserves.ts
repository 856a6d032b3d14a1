import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { isCounted } from '@market/money/payouts'
import type { EarnHolders } from './compare-with-chain.ts'
import { imbalanceOf, type Snapshot } from './snapshot.ts'
import { findNewest } from './store.ts'
import { dueDay, takeReserveSnapshot } from './take-reserve-snapshot.ts'

/** A little less than the 30 s that are documented, because sweeps do not run exactly on time. */
const SNAPSHOT_EVERY_MS = 25 * SECOND
const PROVE_AFTER_MS = 10 * MINUTE

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'> & EarnHolders

/** The state of a network in its newest snapshot, taken by any worker. */
interface ReserveReport {
  readonly network: Network
  /** Undefined before the first snapshot. */
  readonly takenAt: Date | undefined
  readonly shortMicros: bigint
  readonly imbalance: bigint
  /** Whether this call took the snapshot, so that only one worker logs it. */
  readonly isNew: boolean
  /** Why no newer snapshot or proof could be taken although one is due. */
  readonly error?: unknown
}

/**
 * Takes a snapshot of every network whose newest one is about 30 s old, with a proof when the newest proof is ten minutes
 * old. Any number of workers can call this at any time: the database stores when the next snapshot is due. An error on
 * one network is reported and does not stop the others.
 */
export const checkReserves = (ctx: Ctx): Promise<ReserveReport[]> =>
  Promise.all(Object.values(ctx.chains).map((chain) => checkNetwork(ctx, chain)))

async function checkNetwork(ctx: Ctx, chain: Chain): Promise<ReserveReport> {
  const { network } = chain
  const known = await findNewest(ctx.db, network, ctx.clock.now())
  const isWanted = isDue(ctx, known, SNAPSHOT_EVERY_MS) || isAhead(ctx, known)
  if (!isWanted && (await isCounted(ctx.db, network))) return reportOf(network, known, { isNew: false })
  const errors: unknown[] = []
  // A snapshot without a proof follows a proof that fails: an error in it must not hide a shortage.
  for (const withProof of (await isProofDue(ctx, chain)) ? [true, false] : [false]) {
    try {
      const snapshot = await takeReserveSnapshot(ctx, network, { withProof, after: known?.id ?? null })
      const newest = snapshot ?? (await findNewest(ctx.db, network, ctx.clock.now()))
      return reportOf(network, newest, { isNew: snapshot !== undefined, ...errorOf(errors) })
    } catch (error) {
      errors.push(error)
    }
  }
  return reportOf(network, known, { isNew: false, ...errorOf(errors) })
}

/** Every ten minutes, and as soon as the day's snapshot can be taken. */
async function isProofDue(ctx: Ctx, chain: Chain): Promise<boolean> {
  const proven = await findNewest(ctx.db, chain.network, ctx.clock.now(), 'proven')
  return isDue(ctx, proven, PROVE_AFTER_MS) || (await dueDay(ctx, chain)) !== null
}

const errorOf = ([error]: readonly unknown[]): Pick<ReserveReport, 'error'> =>
  error === undefined ? {} : { error }

const isDue = ({ clock }: Ctx, snapshot: Snapshot | undefined, everyMs: number): boolean =>
  snapshot === undefined || later(snapshot.takenAt, everyMs) <= clock.now()

/** Another worker's clock is ahead. The next snapshot is taken now and not after that time has come. */
const isAhead = ({ clock }: Ctx, snapshot: Snapshot | undefined): boolean =>
  snapshot !== undefined && snapshot.takenAt > clock.now()

const reportOf = (
  network: Network,
  snapshot: Snapshot | undefined,
  how: Pick<ReserveReport, 'isNew' | 'error'>,
): ReserveReport => ({
  network,
  takenAt: snapshot?.takenAt,
  shortMicros: snapshot?.short ?? 0n,
  imbalance: snapshot === undefined ? 0n : imbalanceOf(snapshot.balances),
  ...how,
})
