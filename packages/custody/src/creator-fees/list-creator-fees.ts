import type { Needs } from '@market/core/context'
import { readAtOnce } from '@market/database/transact'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { CreatorFee, FeeTotals } from './creator-fee.ts'
import { type FeeFilter, findFees, sumFees } from './store.ts'

const pages = newestFirst('creator-fees', idField('cfe'))

interface ListedFees {
  readonly fees: CreatorFee[]
  /** Of all fees, or of all fees of the agent: `status` and the page do not limit them. */
  readonly totals: FeeTotals
  readonly nextCursor: NextCursor
}

/** Creator fees, newest first, with totals from the same snapshot. */
export async function listCreatorFees(
  { db }: Needs<'db'>,
  { limit, cursor, ...filter }: PageRequest & FeeFilter,
): Promise<ListedFees> {
  const after = pages.decode(cursor)
  return readAtOnce(db, async (tx) => {
    const found = await findFees(tx, filter, { limit: limit + 1, after })
    const { rows, nextCursor } = pages.pageOf(found, limit)
    return { fees: rows, totals: await sumFees(tx, filter.agentId), nextCursor }
  })
}
