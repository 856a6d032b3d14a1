import type { Needs } from '@market/core/context'
import { keepMonths } from '@market/core/events'
import { DAY, earlier } from '@market/kernel/clock'

/** How long the delivery log can be read. */
const KEPT_MS = 90 * DAY

export const keepDeliveryMonths = (ctx: Needs<'db' | 'clock'>): Promise<void> =>
  keepMonths(ctx, 'deliveries', earlier(ctx.clock.now(), KEPT_MS))
