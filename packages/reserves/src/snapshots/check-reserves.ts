import type { Needs } from '@market/core/context'
import { later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { isCounted } from '@market/money/payouts'
import type { EarnHolders } from './compare-with-chain.ts'
import { imbalanceOf, type Snapshot } from './snapshot.ts'
import { findNewest } from './store.ts'
import { takeReserveSnapshot } from './take-reserve-snapshot.ts'

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
  Promise.all(Object.values(ctx.chains).map(({ network }) => checkNetwork(ctx, network)))

async function checkNetwork(ctx: Ctx, network: Network): Promise<ReserveReport> {
  const known = await findNewest(ctx.db, network, ctx.clock.now())
  const isWanted = isDue(ctx, known, SNAPSHOT_EVERY_MS) || isAhead(ctx, known)
  if (!isWanted && (await isCounted(ctx.db, network))) return reportOf(network, known, { isNew: false })
  const errors: unknown[] = []
  for (const options of await proofOptions(ctx, network)) {
    try {
      const snapshot = await takeReserveSnapshot(ctx, network, { ...options, after: known?.id ?? null })
      const newest = snapshot ?? (await findNewest(ctx.db, network, ctx.clock.now()))
      return reportOf(network, newest, { isNew: snapshot !== undefined, ...errorOf(errors) })
    } catch (error) {
      errors.push(error)
    }
  }
  return reportOf(network, known, { isNew: false, ...errorOf(errors) })
}

interface ProofOptions {
  readonly withProof: boolean
  readonly mayBeDays?: boolean
}

/**
 * When a proof is due and fails, a snapshot without one follows: an error in the proof must not hide a shortage. Before
 * it comes a proof that is not the day's, because only the day's snapshot reads the server wallets.
 */
const WHEN_DUE: readonly ProofOptions[] = [
  { withProof: true },
  { withProof: true, mayBeDays: false },
  { withProof: false },
]

async function proofOptions(ctx: Ctx, network: Network): Promise<readonly ProofOptions[]> {
  const proven = await findNewest(ctx.db, network, ctx.clock.now(), 'proven')
  return isDue(ctx, proven, PROVE_AFTER_MS) ? WHEN_DUE : [{ withProof: false }]
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
