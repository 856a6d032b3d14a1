import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { findOpenSubjects, removeUses, saveEnded } from './store.ts'

/** How the subject of a use ended. */
interface UseEnd {
  readonly subject: string
  readonly isPaid: boolean
  readonly at: Date
}

/** How long the files of what ended unpaid stay, as those that nothing refers to. */
const UNPAID_MS = DAY
const BATCH = 500

/**
 * Ends the uses of files by orders, bounties and purchases that ended: files of what was paid stay, and those that only
 * unpaid ones referred to are released. Returns how many uses ended.
 */
export async function endUses(
  ctx: Needs<'db' | 'clock'>,
  findEnds: (subjects: readonly string[]) => Promise<readonly UseEnd[]>,
): Promise<number> {
  const before = earlier(ctx.clock.now(), UNPAID_MS)
  let count = 0
  for (let after = ''; ; ) {
    const subjects = await findOpenSubjects(ctx.db, after, BATCH)
    const ends = await findEnds(subjects)
    const paid = ends.filter(({ isPaid }) => isPaid).map(({ subject }) => subject)
    const unpaid = ends.filter(({ isPaid, at }) => !isPaid && at < before).map(({ subject }) => subject)
    if (paid.length > 0) await transact(ctx.db, (tx) => saveEnded(tx, paid))
    if (unpaid.length > 0) await transact(ctx.db, (tx) => removeUses(tx, unpaid))
    count += paid.length + unpaid.length
    if (subjects.length < BATCH) return count
    after = subjects.at(-1) ?? ''
  }
}
