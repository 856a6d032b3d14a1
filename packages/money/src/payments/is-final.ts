import type { Db, Tx } from '@market/database/transact'
import { findByPurpose } from './store.ts'

/** Whether what was paid for a purpose can no longer be undone by the chain: only then may money leave for it. */
export async function isFinal(db: Db | Tx, purpose: string): Promise<boolean> {
  return (await findByPurpose(db, purpose))?.state === 'final'
}
