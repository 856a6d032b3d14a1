import type { Calls } from './calls.ts'

const PAGE = 100

/** The cursor of the newest event. Cursors count without gaps, so that a few requests find it among any number. */
export async function newestCursor(
  market: Pick<Calls, 'listEvents'>,
  role: 'seller' | 'buyer' = 'seller',
): Promise<string> {
  const first = (await market.listEvents({ role, after: '0', limit: PAGE })).data
  const newest = Number(first.at(-1)?.cursor ?? 0)
  if (first.length < PAGE) return String(newest)
  const hasAfter = async (cursor: number) =>
    (await market.listEvents({ role, after: String(cursor), limit: 1 })).data.length > 0
  let [low, high] = [newest, newest * 2]
  while (await hasAfter(high)) [low, high] = [high, high * 2]
  // There are events after `low` or it is the newest; there are none after `high`.
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await hasAfter(middle)) low = middle + 1
    else high = middle
  }
  return String(low)
}
