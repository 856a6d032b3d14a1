import type { Needs } from '@market/core/context'
import type { BountyId } from '@market/kernel/ids'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import type { Acceptance } from './acceptance.ts'
import { findAcceptancesOf } from './store.ts'

const NEWEST = 20

/** A transfer that was named to accept a claim, with its refund. */
export interface NamedTransfer {
  readonly acceptance: Acceptance
  readonly refund: Payout | undefined
}

/** What became of the newest transfers that were named for a bounty. Only its poster may read it. */
export async function listAcceptances(ctx: Needs<'db'>, bountyId: BountyId): Promise<NamedTransfer[]> {
  const acceptances = await findAcceptancesOf(ctx.db, bountyId, NEWEST)
  return Promise.all(
    acceptances.map(async (acceptance) => ({
      acceptance,
      refund:
        acceptance.status === 'refunded' ? await findPayoutOf(ctx.db, 'refund', acceptance.id) : undefined,
    })),
  )
}
