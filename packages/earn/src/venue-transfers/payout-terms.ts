import type { Venues } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import { ZERO } from '@market/kernel/money'
import type { Payout, PayoutTerms } from '@market/money/payouts'
import { findVenueTransfer } from './store.ts'

/** A payout to a venue is what its move says, and goes only to the wallet whose key this worker has. */
export async function venueTransferTerms(
  venues: Venues,
  tx: Tx,
  { network, subject }: Payout,
): Promise<PayoutTerms> {
  const move = await findVenueTransfer(tx, subject)
  const wallet = move && venues[move.poolKey]?.wallet
  if (move?.state !== 'funding' || wallet === undefined) return { network, amount: ZERO, payees: [] }
  return { network: move.network, amount: move.amount, payees: [wallet] }
}
