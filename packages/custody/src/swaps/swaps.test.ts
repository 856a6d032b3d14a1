import { DAY, earlier, later, MINUTE } from '@market/kernel/clock'
import type { SwapId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { testClock } from '@market/testing/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, test } from 'vitest'
import { deleteOldSwaps } from './delete-old-swaps.ts'
import { deleteSwapsOf, findSwap, insertSwap, saveOutcome, saveSubmitted } from './store.ts'
import type { Swap } from './swap.ts'

const WALLET = 'So11111111111111111111111111111111111111112'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-01T00:00:00Z')) })
  const at = ctx.clock.now()
  await database.db
    .insertInto('users')
    .values(['one', 'two'].map((idp_user_id) => ({ idp_user_id, created_at: at, updated_at: at })))
    .execute()
  return () => database.stop()
})

let messages = 0

async function addSwap(changes: Partial<Swap> = {}): Promise<SwapId> {
  messages += 1
  const createdAt = changes.createdAt ?? ctx.clock.now()
  const swap: Swap = {
    id: ctx.ids.next('swp') as SwapId,
    userId: 'one',
    wallet: WALLET,
    amount: usdc(5_000_000n),
    minOut: 33_000_000n,
    messageHash: messages.toString(16).padStart(64, '0'),
    makerRequest: 'quote-1',
    lastValidHeight: 100n,
    status: 'ordered',
    signature: null,
    createdAt,
    expiresAt: later(createdAt, MINUTE),
    executedAt: null,
    ...changes,
  }
  expect(await ctx.transact((tx) => insertSwap(tx, swap))).toBe(true)
  return swap.id
}

const submit = (id: SwapId) => ctx.transact((tx) => saveSubmitted(tx, id, '1'.repeat(64), ctx.clock.now()))
const remaining = async (ids: readonly SwapId[]) => {
  const found = await Promise.all(ids.map((id) => findSwap(ctx.db, id)))
  return ids.filter((_, index) => found[index] !== undefined)
}

test('insertSwap: rejects a message that another order has', async () => {
  const first = await findSwap(ctx.db, await addSwap())
  if (first === undefined) throw new Error('the swap is stored')
  const second = { ...first, id: ctx.ids.next('swp') as SwapId, userId: 'two' }
  expect(await ctx.transact((tx) => insertSwap(tx, second))).toBe(false)
})

test('saveOutcome: changes only a pending swap, and its outcome is final', async () => {
  const id = await addSwap()
  await ctx.transact((tx) => saveOutcome(tx, id, 'confirmed'))
  expect(await findSwap(ctx.db, id)).toMatchObject({ status: 'ordered', signature: null })
  await submit(id)
  await ctx.transact((tx) => saveOutcome(tx, id, 'failed'))
  await ctx.transact((tx) => saveOutcome(tx, id, 'confirmed'))
  await submit(id)
  expect(await findSwap(ctx.db, id)).toMatchObject({ status: 'failed', signature: '1'.repeat(64) })
})

test('deleteOldSwaps: unexecuted ones after a day, others after 90 days', async () => {
  const now = ctx.clock.now()
  const unexecuted = await addSwap({ createdAt: earlier(now, DAY + 1) })
  const fresh = await addSwap({ createdAt: earlier(now, DAY) })
  const executed = await addSwap({ createdAt: earlier(now, 90 * DAY) })
  const old = await addSwap({ createdAt: earlier(now, 90 * DAY + 1) })
  await submit(executed)
  await submit(old)
  expect(await deleteOldSwaps(ctx)).toBe(2)
  expect(await remaining([unexecuted, fresh, executed, old])).toEqual([fresh, executed])
  expect(await deleteOldSwaps(ctx)).toBe(0)
})

test('deleteSwapsOf: deletes the swaps of one user', async () => {
  const [own, other] = [await addSwap(), await addSwap({ userId: 'two' })]
  await ctx.transact((tx) => deleteSwapsOf(tx, 'one'))
  expect(await remaining([own, other])).toEqual([other])
})
