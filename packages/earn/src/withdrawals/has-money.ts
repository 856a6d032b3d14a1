import type { Tx } from '@market/database/transact'
import { hasOpenDeposits } from '../deposits/index.ts'
import { findPositions } from '../pools/index.ts'
import { hasOpenWithdrawals } from './store.ts'

/** Whether the holders have shares, or money on its way into a pool or out of it. */
export const hasMoneyInEarn = async (tx: Tx, holders: readonly string[]): Promise<boolean> =>
  (await hasOpenDeposits(tx, holders)) ||
  (await hasOpenWithdrawals(tx, holders)) ||
  (await findPositions(tx, holders)).length > 0
