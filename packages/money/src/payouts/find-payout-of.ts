import type { Db, Tx } from '@market/database/transact'
import { type Payout, type PayoutKind, payoutIdOf } from './payout.ts'
import { findPayout } from './store.ts'

/** The payout of this kind that was decided for a subject, if any. */
export const findPayoutOf = (db: Db | Tx, kind: PayoutKind, subject: string): Promise<Payout | undefined> =>
  findPayout(db, payoutIdOf(kind, subject))
