import type { Needs } from '@market/core/context'
import { findTransfer, findTransferFor } from '../../payments/index.ts'
import type { Hold } from '../hold.ts'
import type { Payout } from '../payout.ts'
import type { PayoutContext } from '../payout-context.ts'
import { parseRefundSubject } from '../refund-transfer.ts'

/** Why the payee, or the payer of the money, may not be dealt with. The list may be elsewhere: no transaction is open. */
export async function screeningHold(ctx: PayoutContext, payout: Payout): Promise<Hold | undefined> {
  const addresses = [payout.payee, await payerOf(ctx, payout)].filter((address) => address !== null)
  for (const screening of ctx.screenings) {
    const listed = await screening.findListed(payout.network, [...new Set(addresses)]).catch(() => undefined)
    if (listed === undefined) return { code: 'screening_unavailable' }
    if (listed.length > 0) return { code: 'screened', detail: listed.join(', ') }
  }
  return undefined
}

/** Who sent the transfer that funds it; null when nobody is known, as for fees. */
async function payerOf({ db }: Needs<'db'>, { network, purpose, subject }: Payout): Promise<string | null> {
  if (purpose !== null) return (await findTransferFor(db, purpose))?.payer ?? null
  const unmatched = parseRefundSubject(network, subject)
  return unmatched === undefined ? null : ((await findTransfer(db, unmatched))?.payer ?? null)
}
