import type { Needs } from '@market/core/context'
import type { Usdc } from '@market/kernel/money'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import { fillSubject } from './settle-withdrawals.ts'
import { findFills, findWithdrawals } from './store.ts'
import type { Withdrawal } from './withdrawal.ts'

const LISTED = 50

/** A withdrawal with the payouts of its parts. */
export interface ListedWithdrawal extends Withdrawal {
  readonly fills: readonly { readonly amount: Usdc; readonly payout: Payout | undefined }[]
}

/** The newest 50. */
export async function listWithdrawals(
  { db }: Needs<'db'>,
  holders: readonly string[],
): Promise<ListedWithdrawal[]> {
  const withdrawals = await findWithdrawals(db, holders, LISTED)
  const fills = Map.groupBy(
    await findFills(
      db,
      withdrawals.map(({ id }) => id),
    ),
    ({ withdrawalId }) => withdrawalId,
  )
  return Promise.all(
    withdrawals.map(async (withdrawal) => ({
      ...withdrawal,
      fills: await Promise.all(
        (fills.get(withdrawal.id) ?? []).map(async ({ n, amount }) => ({
          amount,
          payout: await findPayoutOf(db, 'earn_withdrawal', fillSubject(withdrawal.id, n)),
        })),
      ),
    })),
  )
}
