import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import type { Needs } from '../context.ts'
import { addToTotals, takeChanges } from './store.ts'

/**
 * Moves changes into the totals. A batch is one transaction: a worker that dies in it has moved nothing, and two workers
 * move different changes.
 */
export const rollUpStatistics = ({ db }: Needs<'db'>): Promise<number> =>
  inBatches((limit) =>
    transact(db, async (tx) => {
      const changes = await takeChanges(tx, limit)
      if (changes.length > 0) await addToTotals(tx, changes)
      return changes.length
    }),
  )
