import { cursorAfterReset } from './cursor-reset.ts'
import { MarketError } from './errors.ts'
import type { Calls } from './generated/calls.ts'

/** Above every number of an event. */
const ABOVE_ALL = '9'.repeat(18)

/** The cursor of the newest event: where the API says to continue after a number that no event has. */
export async function newestCursor(
  market: Pick<Calls, 'listEvents'>,
  role: 'seller' | 'buyer' = 'seller',
): Promise<string> {
  try {
    return (await market.listEvents({ role, after: ABOVE_ALL, limit: 1 })).next_cursor
  } catch (error) {
    const newest = error instanceof MarketError ? cursorAfterReset(error) : undefined
    if (newest === undefined) throw error
    return newest
  }
}
