import type { Venues } from '@market/core/ports/venue'
import type { PayoutRule } from '@market/money/payouts'
import { findVenueTransfer } from './store.ts'

/** A payout to a venue is what its transfer says, and goes only to the wallet whose key this worker has. It stays with us, so no cap counts it. */
export const venuePayout = (venues: Venues): PayoutRule => ({
  capped: 'never',
  async terms(_ctx, tx, { subject }) {
    const transfer = await findVenueTransfer(tx, subject)
    const wallet = transfer && venues[transfer.poolKey]?.wallet
    if (transfer?.state !== 'funding' || transfer.amount === null || wallet === undefined) return undefined
    return { network: transfer.network, amount: transfer.amount, payees: [wallet] }
  },
})
