import { DAY, later } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import {
  applyDueTransitions,
  confirmPayer,
  contestOrder,
  findOrder,
  resolveDispute,
  type Verdict,
} from '@market/trade/orders'
import { beforeEach, expect, test } from 'vitest'
import { answerGeneration } from './answer-generation.ts'
import { failExpiredGenerations } from './fail-expired.ts'
import { generate } from './generate.ts'
import { openWorkspace } from './test-workspace.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

/** A workspace whose payer is not proven, in which so many generations were completed. */
async function contested(completed: number) {
  const workspace = await openWorkspace(ctx)
  await ctx.db
    .updateTable('orders')
    .set({ payment_method: 'x402', payer_proven: false })
    .where('id', '=', workspace.id)
    .execute()
  for (let n = 0; n < completed; n++) {
    const { generation } = await generate(ctx, workspace.buyer, {
      orderId: workspace.id,
      prompt: 'A blue square',
    })
    const answer = { item: { type: 'text', content: 'Blue' } } as const
    await answerGeneration(ctx, workspace.agent, {
      orderId: workspace.id,
      generationId: generation.id,
      answer,
    })
  }
  await ctx.transact((tx) => contestOrder(ctx, tx, workspace.id))
  return workspace
}

const operator = () => ({ ...ctx, actor: { kind: 'admin_key', name: 'arbiter' } as const })
const resolve = (id: OrderId, verdict: Verdict) =>
  resolveDispute(operator(), id, verdict, 'Two requests named it.')
const payoutsOf = (id: OrderId) =>
  ctx.db.selectFrom('payouts').select(['kind', 'amount_micros']).where('subject', '=', id).execute()

test('a contested workspace is refunded after 7 days when no generation was completed', async () => {
  const { id } = await contested(0)
  ctx.clock.advance(7 * DAY)
  await applyDueTransitions(ctx)
  expect(await findOrder(ctx.db, id)).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
})

test('a contested workspace waits for an arbiter when generations were completed', async () => {
  const { id } = await contested(3)
  ctx.clock.advance(30 * DAY)
  await applyDueTransitions(ctx)
  expect(await findOrder(ctx.db, id)).toMatchObject({ status: 'in_progress', contest: { endsAt: null } })
  expect(await payoutsOf(id)).toEqual([])
})

test.each([
  [{ outcome: 'release' }, { status: 'completed', contest: null }, 'payout'],
  [{ outcome: 'refund' }, { status: 'cancelled', outcome: 'refunded' }, 'refund'],
] as const)('%o by an arbiter ends a contested workspace', async (verdict, ended, kind) => {
  const { id } = await contested(3)
  expect(await resolve(id, verdict)).toMatchObject(ended)
  expect((await payoutsOf(id)).map((payout) => payout.kind)).toEqual([kind])
})

test('a contested workspace without completed generations is not decided by an arbiter', async () => {
  const { id } = await contested(0)
  await expect(resolve(id, { outcome: 'release' })).rejects.toMatchObject({
    extra: { code: 'illegal_transition' },
  })
})

test('a generation does not count as failed when the order was contested before its deadline', async () => {
  const workspace = await openWorkspace(ctx)
  await ctx.db
    .updateTable('orders')
    .set({ payment_method: 'x402', payer_proven: false })
    .where('id', '=', workspace.id)
    .execute()
  const request = () => generate(ctx, workspace.buyer, { orderId: workspace.id, prompt: 'A blue square' })
  const { generation } = await request()
  await ctx.transact((tx) => contestOrder(ctx, tx, workspace.id))
  ctx.clock.set(later(generation.deadline, -1))
  await ctx.transact((tx) => confirmPayer(ctx, tx, workspace.id, `wallet:0x${'a'.repeat(40)}`))
  ctx.clock.set(generation.deadline)
  await failExpiredGenerations(ctx)
  expect(await findOrder(ctx.db, workspace.id)).toMatchObject({
    quotaUsed: 0,
    quotaPending: 0,
    quotaFailed: 0,
  })

  const next = await request()
  ctx.clock.set(next.generation.deadline)
  await failExpiredGenerations(ctx)
  expect(await findOrder(ctx.db, workspace.id)).toMatchObject({
    quotaUsed: 0,
    quotaPending: 0,
    quotaFailed: 1,
  })
})
