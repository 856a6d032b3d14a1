import { DAY, earlier } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { keepMonths } from './keep-months.ts'

/** How long events can be read. */
const KEPT_MS = 90 * DAY

export const keepEventMonths = (ctx: Needs<'db' | 'clock'>): Promise<void> =>
  keepMonths(ctx, 'events', earlier(ctx.clock.now(), KEPT_MS))
