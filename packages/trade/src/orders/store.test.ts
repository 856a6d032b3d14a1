import { findAgentById } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findReviewOf } from '../reviews/index.ts'
import { cancel, undo } from './changes.ts'
import { createOrder } from './create-order.ts'
import { createReview } from './create-review.ts'
import type { Order } from './order.ts'
import { BY_CLOCK, type Step, TRANSITIONS } from './states.ts'
import { findOrder, saveOrder } from './store.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
let order: Order
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
  const { agent } = await makeListedAgent(ctx)
  const listing = await makeListing(ctx, agent.id)
  const wallet = `0x${'ab'.repeat(20)}`
  order = await createOrder(ctx, walletActor(wallet), {
    listingId: listing.id,
    brief: 'Review the branch of yesterday.',
    referenceUrls: [],
    referenceImages: [],
    requirementAnswers: {},
    isPrivate: false,
    clientWallet: wallet,
  })
})
afterAll(() => database.stop())

const stepsOf = (id: OrderId) =>
  database.db.selectFrom('order_steps').selectAll().where('order_id', '=', id).execute()

describe('saveOrder', () => {
  const accepted = (): Order =>
    ({ ...order, status: 'accepted', pending: null, paymentError: null }) as Order<'accepted'>
  const step: Step = { action: 'accept', role: 'buyer', actor: 'wallet:0xab', at: new Date() }

  test.each<[string, Partial<Step>]>([
    ['an action that does not lead there', { action: 'pay' }],
    ['a role that may not take the action', { role: 'provider', actor: 'agent:agt_1' }],
    ['an actor that cannot have the role', { actor: 'clock' }],
  ])('saves nothing for %s', async (_case, wrong) => {
    const save = ctx.transact((tx) => saveOrder(tx, order, accepted(), { ...step, ...wrong }))
    await expect(save).rejects.toThrow()
    expect(await findOrder(database.db, order.id)).toMatchObject({ status: 'quoted' })
    expect(await stepsOf(order.id)).toEqual([])
  })
})

describe('saveOrder: an order that is not completed any more', () => {
  const STEPS = {
    undo: { ...BY_CLOCK, after: (order: Order<'completed'>) => undo(order, new Date(), 'Reorganized') },
    reverse: { role: 'arbiter', actor: 'user:operator', after: (order) => cancel(order, new Date()) },
    return_payment: { role: 'buyer', actor: 'wallet:0xab', after: (order) => cancel(order, new Date()) },
  } as const satisfies Record<
    string,
    Pick<Step, 'role' | 'actor'> & { after: (order: Order<'completed'>) => Order }
  >
  const leaving = Object.entries(TRANSITIONS.completed).flatMap(([action, to]) =>
    to === 'completed' ? [] : [action],
  )

  test.each(leaving)('%s: loses its review and its rating', async (name) => {
    const action = name as keyof typeof STEPS
    const { agent } = await makeListedAgent(ctx)
    const { id, buyer } = await makeOrder(ctx, await makeListing(ctx, agent.id), { status: 'completed' })
    await createReview(ctx, buyer, { orderId: id, rating: 5, comment: '' })
    const before = (await findOrder(database.db, id)) as Order<'completed'>
    const { after, ...by } = STEPS[action]
    await ctx.transact((tx) => saveOrder(tx, before, after(before), { ...by, action, at: new Date() }))
    expect(await findReviewOf(database.db, id)).toBeUndefined()
    expect(await findAgentById(database.db, agent.id)).toMatchObject({ ratingSum: 0, ratingCount: 0 })
  })

  test('award: keeps its review', async () => {
    const { agent } = await makeListedAgent(ctx)
    const { id, buyer } = await makeOrder(ctx, await makeListing(ctx, agent.id), { status: 'completed' })
    await createReview(ctx, buyer, { orderId: id, rating: 5, comment: '' })
    const before = await findOrder(database.db, id)
    const by = { action: 'award', role: 'arbiter', actor: 'user:operator', at: new Date() } as const
    await ctx.transact((tx) => saveOrder(tx, before, before, by))
    expect(await findReviewOf(database.db, id)).toMatchObject({ rating: 5 })
  })
})

describe('order_steps', () => {
  const insert = (fields: { action: string; to_status: string; role: string; actor: string }) =>
    database.db
      .insertInto('order_steps')
      .values({ order_id: order.id, n: 1, from_status: 'delivered', at: new Date(), ...fields })
      .execute()

  test('the database rejects an action by a role that may not take it', async () => {
    const row = { action: 'dispute', to_status: 'disputed', role: 'owner', actor: 'wallet:0xab' }
    await expect(insert(row)).rejects.toMatchObject({ constraint: 'order_steps_role' })
  })

  test('the database rejects an actor that cannot have the role', async () => {
    const row = { action: 'dispute', to_status: 'disputed', role: 'buyer', actor: 'clock' }
    await expect(insert(row)).rejects.toMatchObject({ constraint: 'order_steps_actor' })
  })
})
