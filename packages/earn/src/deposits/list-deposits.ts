import type { Needs } from '@market/core/context'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import type { NamedDeposit } from './deposit.ts'
import { findDeposits } from './store.ts'

const LISTED = 50

/** A deposit and the payout that refunds it, if any. */
export interface ListedDeposit extends NamedDeposit {
  readonly refund: Payout | undefined
}

/** The newest 50. A refund that failed leaves the deposit held. */
export async function listDeposits(
  { db }: Needs<'db'>,
  holders: readonly string[],
): Promise<ListedDeposit[]> {
  const deposits = await findDeposits(db, holders, LISTED)
  return Promise.all(
    deposits.map(async (deposit) => {
      const refund = deposit.status === 'refunded' ? await findPayoutOf(db, 'refund', deposit.id) : undefined
      return { ...deposit, ...(refund?.state === 'failed' && { status: 'held' as const }), refund }
    }),
  )
}
