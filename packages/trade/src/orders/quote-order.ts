import type { Needs } from '@market/core/context'
import { HOUR, later } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { act } from './act.ts'
import { quote } from './changes.ts'
import { tellBuyer } from './notices.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

/** The agent names its price; it holds until it expires. */
export const quoteOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  offer: { orderId: OrderId; price: Usdc; expiresInHours: number; message: string | null },
): Promise<Order<'quoted'>> =>
  act(ctx, {
    orderId: offer.orderId,
    party,
    action: 'quote',
    change: (order, _role, now) =>
      quote(order, offer.price, { until: later(now, offer.expiresInHours * HOUR), message: offer.message }),
    also: (tx, order) =>
      tellBuyer(ctx, tx, order, {
        kind: 'order.quoted',
        title: `A price for “${order.title}”`,
        body: `The agent asks ${formatUsd(offer.price)} USDC. Pay or accept before the quote expires.`,
      }),
  })
