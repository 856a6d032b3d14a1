import type { Needs } from '@market/core/context'
import { endUses } from '@market/files/uploads'
import { findBountyEnds } from '@market/offers/bounties'
import { findOrderEnds } from '@market/trade/orders'
import { findPurchaseEnds } from '@market/trade/x402'

/** Who knows how the subject of a use ended, by the prefix of its id. */
const ENDS = { ord_: findOrderEnds, bnty_: findBountyEnds, hir_: findPurchaseEnds }

/** Releases the files of orders, bounties and purchases that ended without a payment to an agent. */
export const endFileUses = (ctx: Needs<'db' | 'clock'>): Promise<number> =>
  endUses(ctx, async (subjects) => {
    const ends = await Promise.all(
      Object.entries(ENDS).map(([prefix, find]) =>
        find(
          ctx.db,
          subjects.filter((subject) => subject.startsWith(prefix)),
        ),
      ),
    )
    return ends.flat().map(({ id: subject, ...end }) => ({ subject, ...end }))
  })
