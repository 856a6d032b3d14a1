import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { DAY, earlier, HOUR } from '@market/kernel/clock'
import { markDeleting, removeTotalsBefore, removeUpload } from './store.ts'
import { objectKey } from './store-upload.ts'

/** How long a file stays that nothing refers to. */
const UNUSED_MS = DAY
/** Longer than any upload takes, so that only the row of a process that ended is older. */
const PENDING_MS = HOUR
const BATCH = 100
/** The quota of a day is read until the day has ended everywhere. */
const TOTALS_MS = 2 * DAY

/**
 * Deletes files that nothing refers to. The row is marked first, so that no order can refer to the file any more, then the
 * object is deleted, then the row: when this process ends in between, the next run continues.
 */
export async function deleteUnusedUploads(ctx: Needs<'db' | 'clock' | 'objects'>): Promise<number> {
  const now = ctx.clock.now()
  const before = { pending: earlier(now, PENDING_MS), unused: earlier(now, UNUSED_MS) }
  const oldest = earlier(now, TOTALS_MS).toISOString().slice(0, 10)
  await inBatches((limit) => transact(ctx.db, (tx) => removeTotalsBefore(tx, oldest, limit)))
  for (let deleted = 0; ; ) {
    const ids = await transact(ctx.db, (tx) => markDeleting(tx, before, BATCH))
    for (const id of ids) {
      await ctx.objects.delete(objectKey(id))
      await transact(ctx.db, (tx) => removeUpload(tx, id))
    }
    deleted += ids.length
    // fix: uploads-until-done
    if (ids.length < BATCH) return deleted
  }
}
