import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { findOpenSubjects, removeUses, saveEnded } from './store.ts'

/** How the subject of a use ended: the agent was paid, the buyer got the money back, or there was no payment. */
interface UseEnd {
  readonly subject: string
  readonly end: 'paid' | 'refunded' | 'unpaid'
  readonly at: Date
}

/** How long files stay when nobody was paid. Both parties of a refund may still need them; nobody needs the others. */
const KEPT_MS = { refunded: 30 * DAY, unpaid: DAY }
const BATCH = 500

/**
 * Ends the uses of files by orders, bounties and purchases that ended: files of what was paid stay, and those that only
 * others referred to are released. Returns how many uses ended.
 */
export async function endUses(
  ctx: Needs<'db' | 'clock'>,
  findEnds: (subjects: readonly string[]) => Promise<readonly UseEnd[]>,
): Promise<number> {
  const now = ctx.clock.now()
  const isOver = ({ end, at }: UseEnd) => end !== 'paid' && at < earlier(now, KEPT_MS[end])
  let count = 0
  for (let after = ''; ; ) {
    const subjects = await findOpenSubjects(ctx.db, after, BATCH)
    const ends = await findEnds(subjects)
    const paid = ends.filter(({ end }) => end === 'paid').map(({ subject }) => subject)
    const over = ends.filter(isOver).map(({ subject }) => subject)
    if (paid.length > 0) await transact(ctx.db, (tx) => saveEnded(tx, paid))
    // fix: upload-released
    if (over.length > 0) await transact(ctx.db, (tx) => removeUses(tx, over))
    count += paid.length + over.length
    if (subjects.length < BATCH) return count
    after = subjects.at(-1) ?? ''
  }
}
