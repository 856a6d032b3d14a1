import type { Needs } from '@market/core/context'
import { advance } from '@market/core/outgoing'
import type { ReserveAnchor, ReserveAnchors, ReserveSigner } from '@market/core/ports/reserve-anchor'
import { transact } from '@market/database/transact'
import { DAY, earlier, HOUR, later } from '@market/kernel/clock'
import { NETWORKS } from '@market/kernel/network'
import { dayOf, findNewest, findProven, type Snapshot } from '../snapshots/index.ts'
import { type AnchorText, anchorOf, treesOf } from './anchor.ts'
import {
  addSignature,
  findLastAnchored,
  findUnanchored,
  findUnsigned,
  insertAnchor,
  reserveDueAnchor,
  saveAnchorFinal,
} from './store.ts'

/** Days that were missed are anchored and signed later, up to this age. */
const MISSED_FOR_MS = 7 * DAY
/** After this much of the day, a network without its day's snapshot is left out. */
const WAIT_FOR_NETWORKS_MS = 6 * HOUR
/** A network whose newest snapshot is younger than this is in use. */
const IN_USE_MS = 1 * HOUR
const OVERDUE_AFTER_MS = 36 * HOUR

type Ctx = Needs<'db' | 'clock' | 'chains'>

export interface AnchorReport {
  /** `anchorAgeMs` */
  readonly ageMs: number
  readonly isOverdue: boolean
}

/**
 * Stores the text of each day once all networks have their day's snapshot, and publishes it on a chain until it is final.
 * Any number of workers can call this at any time. The report is undefined in a process that cannot publish.
 */
export async function anchorReserves(
  ctx: Ctx & { readonly reserveAnchors: ReserveAnchors },
): Promise<AnchorReport | undefined> {
  await storeTexts(ctx)
  const [publisher] = Object.values(ctx.reserveAnchors)
  if (publisher === undefined) return undefined
  for (;;) {
    const due = await transact(ctx.db, (tx) => reserveDueAnchor(tx, ctx.clock.now()))
    if (due === undefined) break
    await publish(ctx, publisher, due)
  }
  const ageMs = await anchorAgeMs(ctx)
  return { ageMs, isOverdue: ageMs > OVERDUE_AFTER_MS }
}

/** Since the newest final anchor; before the first, since the first day's snapshot. */
export async function anchorAgeMs({ db, clock }: Needs<'db' | 'clock'>): Promise<number> {
  const now = clock.now()
  const since = (await findLastAnchored(db)) ?? now
  return Math.max(0, now.getTime() - since.getTime())
}

async function storeTexts(ctx: Ctx): Promise<void> {
  const now = ctx.clock.now()
  const found = await findUnanchored(ctx.db, { from: dayOf(earlier(now, MISSED_FOR_MS)), to: dayOf(now) })
  for (const [day, rows] of Map.groupBy(found, (row) => row.day)) {
    const snapshots = await Promise.all(rows.map(({ id }) => findProven(ctx.db, id)))
    const known = snapshots.filter((snapshot) => snapshot !== undefined)
    if (await isComplete(ctx, day, known))
      await transact(ctx.db, (tx) => insertAnchor(tx, anchorOf(day, treesOf(known)), now))
  }
}

/** Whether every network in use has its snapshot of the day, or none is to be waited for any more. */
async function isComplete(ctx: Ctx, day: string, snapshots: readonly Snapshot[]): Promise<boolean> {
  const now = ctx.clock.now()
  if (later(new Date(`${day}T00:00:00Z`), WAIT_FOR_NETWORKS_MS) <= now) return true
  for (const network of NETWORKS) {
    if (snapshots.some((snapshot) => snapshot.network === network)) continue
    const newest = await findNewest(ctx.db, network, now)
    const isRead = newest !== undefined && later(newest.takenAt, IN_USE_MS) > now
    if (isRead || ctx.chains[network] !== undefined) return false
  }
  return true
}

/** One step: signs the text, sends it again, or finds out what became of it. After a restore a day may be published twice. */
async function publish(ctx: Ctx, publisher: ReserveAnchor, { day, text }: AnchorText): Promise<void> {
  const { network, account } = publisher
  const progress = await advance<never>(
    ctx,
    publisher,
    { id: `anchor:${day}`, kind: 'anchor', account },
    {
      isStopped: async () => false,
      sign: async ({ n }) => ({ transaction: await publisher.sign(text, n), authorize: async () => true }),
      mayRepeat: () => true,
    },
  )
  if (progress.kind !== 'final') return
  // The one that signed, which need not be the treasury of today.
  const { reference, account: signer } = progress
  const final = { network, account: signer, reference, finalAt: ctx.clock.now() }
  await transact(ctx.db, (tx) => saveAnchorFinal(tx, day, final))
}

/** Signs the stored texts of the last days, each once, so that everyone can check who controls this treasury. */
export async function signAnchors(ctx: Needs<'db' | 'clock'>, signer: ReserveSigner): Promise<void> {
  const from = dayOf(earlier(ctx.clock.now(), MISSED_FOR_MS))
  for (const { day, text } of await findUnsigned(ctx.db, signer, from)) {
    const signature = await signer.sign(text)
    await transact(ctx.db, (tx) => addSignature(tx, day, signature))
  }
}
