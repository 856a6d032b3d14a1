import { findFundingTransfer } from '../funding-transfer.ts'
import type { Hold } from '../hold.ts'
import type { Payout } from '../payout.ts'
import type { PayoutContext } from '../payout-context.ts'

/** Why the payee, or the payer of the money, may not be dealt with. The list may be elsewhere: no transaction is open. */
export async function screeningHold(ctx: PayoutContext, payout: Payout): Promise<Hold | undefined> {
  // Nobody is known who sent fees.
  const payer = (await findFundingTransfer(ctx.db, payout))?.payer ?? null
  const addresses = [payout.payee, payer].filter((address) => address !== null)
  for (const screening of ctx.screenings) {
    const listed = await screening.findListed(payout.network, [...new Set(addresses)]).catch(() => undefined)
    if (listed === undefined) return { code: 'screening_unavailable' }
    if (listed.length > 0) return { code: 'screened', detail: listed.join(', ') }
  }
  return undefined
}
