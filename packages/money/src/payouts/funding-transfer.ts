import type { Db, Tx } from '@market/database/transact'
import { findTransfer, findTransferFor, type Transfer } from '../payments/index.ts'
import type { Payout } from './payout.ts'

/** The transfer whose money a payout pays on; undefined when none does. */
export async function findFundingTransfer(
  db: Db | Tx,
  { purpose, unmatched }: Pick<Payout, 'purpose' | 'unmatched'>,
): Promise<Transfer | undefined> {
  if (purpose !== null) return findTransferFor(db, purpose)
  return unmatched === null ? undefined : findTransfer(db, unmatched)
}

/**
 * Whether money goes back to the wallet whose final transfer it comes from. A payee that an operator chose is not its payer,
 * and neither is one that shares a transaction with a buyer.
 */
export async function isReturnToPayer(tx: Tx, payout: Payout): Promise<boolean> {
  const { network, payee, purpose, unmatched } = payout
  const paid = await findFundingTransfer(tx, payout)
  if (payee === null || paid?.state !== 'final' || paid.network !== network || paid.payer !== payee)
    return false
  return purpose !== null || paid.purpose === null || unmatched?.from === 'surplus'
}
