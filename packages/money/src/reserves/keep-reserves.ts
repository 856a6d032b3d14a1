import type { Needs } from '@market/core/context'
import { later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { isCounted } from '../payouts/index.ts'
import { imbalanceOf, type Snapshot } from './snapshot.ts'
import { findNewest } from './store.ts'
import { takeReserveSnapshot } from './take-reserve-snapshot.ts'

/** Due a little before half a minute is over, so that one who comes every half minute does not come too early. */
const LOOK_AFTER_MS = 25 * SECOND
const PROVE_AFTER_MS = 10 * MINUTE

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/** How a network stands by its newest look, whoever made it. */
export interface ReserveReport {
  readonly network: Network
  /** Undefined before the first look. */
  readonly takenAt: Date | undefined
  readonly shortMicros: bigint
  readonly imbalance: bigint
  /** Whether this very call looked, so that of many workers one logs it. */
  readonly isNew: boolean
  /** Why there is no newer look or no newer proof, although one is due. */
  readonly trouble?: unknown
}

/**
 * Observations at every network whose newest look is about half a minute old, with a proof when the newest proof is ten
 * minutes old. The database tells when, so any number of workers may call this as often as they like. One chain in
 * trouble does not keep the others from being looked at; its trouble is in the report.
 */
export const keepReserves = (ctx: Ctx): Promise<ReserveReport[]> =>
  Promise.all(Object.values(ctx.chains).map(({ network }) => keepOne(ctx, network)))

async function keepOne(ctx: Ctx, network: Network): Promise<ReserveReport> {
  const known = await findNewest(ctx.db, network, ctx.clock.now())
  const isWanted = isDue(ctx, known, LOOK_AFTER_MS) || isAhead(ctx, known)
  if (!isWanted && (await isCounted(ctx.db, network))) return reportOf(network, known, { isNew: false })
  const troubles: unknown[] = []
  for (const withProof of await waysToLook(ctx, network)) {
    try {
      const look = await takeReserveSnapshot(ctx, network, { withProof, after: known?.id ?? null })
      const newest = look ?? (await findNewest(ctx.db, network, ctx.clock.now()))
      return reportOf(network, newest, { isNew: look !== undefined, ...troubleOf(troubles) })
    } catch (trouble) {
      troubles.push(trouble)
    }
  }
  return reportOf(network, known, { isNew: false, ...troubleOf(troubles) })
}

/** With a proof when one is due; and without, so that a proof that cannot be written hides no shortage. */
async function waysToLook(ctx: Ctx, network: Network): Promise<readonly boolean[]> {
  const proven = await findNewest(ctx.db, network, ctx.clock.now(), 'proven')
  return isDue(ctx, proven, PROVE_AFTER_MS) ? [true, false] : [false]
}

const troubleOf = ([trouble]: readonly unknown[]): Pick<ReserveReport, 'trouble'> =>
  trouble === undefined ? {} : { trouble }

const isDue = ({ clock }: Ctx, look: Snapshot | undefined, everyMs: number): boolean =>
  look === undefined || later(look.takenAt, everyMs) <= clock.now()

/** Whoever made it had another clock, and a shortage does not wait for that. */
const isAhead = ({ clock }: Ctx, look: Snapshot | undefined): boolean =>
  look !== undefined && look.takenAt > clock.now()

const reportOf = (
  network: Network,
  look: Snapshot | undefined,
  how: Pick<ReserveReport, 'isNew' | 'trouble'>,
): ReserveReport => ({
  network,
  takenAt: look?.takenAt,
  shortMicros: look?.short ?? 0n,
  imbalance: look === undefined ? 0n : imbalanceOf(look.books),
  ...how,
})
