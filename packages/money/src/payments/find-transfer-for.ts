import type { Db, Tx } from '@market/database/transact'
import { findByPurpose } from './store.ts'
import type { Transfer } from './transfer.ts'

/** The transfer that paid for a purpose; undefined when none did, or the chain took it back. */
export const findTransferFor = (db: Db | Tx, purpose: string): Promise<Transfer | undefined> =>
  findByPurpose(db, purpose)
