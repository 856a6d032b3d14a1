import type { Actor } from '@market/core/context'
import { type Agent, averageRating, findAgentById } from '@market/identity/agents'
import { later } from '@market/kernel/clock'
import { payoutIdOf } from '@market/money/payouts'
import { findListing, type Listing } from '@market/offers/listings'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { makeEvmWallet, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { createReview, type Status, TRANSITIONS } from '@market/trade/orders'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listReviews, newestReviews } from './list-reviews.ts'
import type { Rating } from './review.ts'
import { findReviewOf } from './store.ts'

const AT_ONCE = 20

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

async function makeSeller() {
  const owner = makeEvmWallet()
  const { agent } = await makeListedAgent(ctx, { owner: { kind: 'wallet', wallet: owner } })
  return { agent, listing: await makeListing(ctx, agent.id), owner: walletActor(owner.key) }
}

async function review(listing: Listing, rating: Rating, comment = '') {
  const { id, buyer } = await makeOrder(ctx, listing, { status: 'completed' })
  return createReview(ctx, buyer, { orderId: id, rating, comment })
}

const countsOf = async (agent: Agent, listing: Listing) => ({
  agent: await findAgentById(ctx.db, agent.id),
  listing: await findListing(ctx.db, listing.id),
})
const counted = (ratingSum: number, ratingCount: number) => ({
  agent: { ratingSum, ratingCount },
  listing: { ratingSum, ratingCount },
})

describe('createReview', () => {
  const states = (Object.keys(TRANSITIONS) as Status[]).filter((status) => status !== 'completed')

  test.each(states)('%s: returns order_not_completed', async (status) => {
    const { agent, listing } = await makeSeller()
    const { id, buyer } = await makeOrder(ctx, listing, { status })
    await expect(createReview(ctx, buyer, { orderId: id, rating: 5, comment: '' })).rejects.toMatchObject({
      kind: 'invalid',
      extra: { code: 'order_not_completed' },
    })
    expect(await countsOf(agent, listing)).toMatchObject(counted(0, 0))
  })

  test('returns payer_not_proven while the payment can be contested, also while its payout is held, and accepts it afterwards', async () => {
    const { agent, listing } = await makeSeller()
    const { id, buyer } = await makeOrder(ctx, listing, { status: 'completed' })
    const put = (columns: object) => ctx.db.updateTable('orders').set(columns).where('id', '=', id).execute()
    const rate = () => createReview(ctx, buyer, { orderId: id, rating: 5, comment: '' })
    const waits = {
      payment_method: 'x402',
      payer_proven: false,
      payout_waits_until: later(ctx.clock.now(), 1),
    }
    for (const columns of [waits, { payout_waits_until: ctx.clock.now(), contested_at: ctx.clock.now() }]) {
      await put(columns)
      await expect(rate()).rejects.toMatchObject({ kind: 'conflict', extra: { code: 'payer_not_proven' } })
    }
    expect(await countsOf(agent, listing)).toMatchObject(counted(0, 0))
    await put({ contested_at: null })
    // The wait is over, but a payout that is held can still be stopped by the payer's signature.
    const payoutId = payoutIdOf('payout', id)
    const at = ctx.clock.now()
    await ctx.db
      .insertInto('payouts')
      .values({
        ...{ id: payoutId, network: 'base-mainnet', kind: 'payout', subject: id, state: 'held' },
        ...{ payee: `0x${'1'.repeat(40)}`, amount_micros: 1n, hold_code: 'daily_cap', reason: 'the cap' },
        ...{ created_at: at, updated_at: at, due_at: at },
      })
      .execute()
    await expect(rate()).rejects.toMatchObject({ kind: 'conflict', extra: { code: 'payer_not_proven' } })
    await ctx.db
      .updateTable('payouts')
      .set({ state: 'signed', hold_code: null, reason: null })
      .where('id', '=', payoutId)
      .execute()
    expect(await rate()).toMatchObject({ rating: 5 })
  })

  test('returns 403 to the agent and its owner, and 404 to other users', async () => {
    const { agent, listing, owner } = await makeSeller()
    const { id } = await makeOrder(ctx, listing, { status: 'completed' })
    const by = (actor: Actor) => createReview(ctx, actor, { orderId: id, rating: 5, comment: '' })
    for (const actor of [agentActor(agent.id), owner])
      await expect(by(actor)).rejects.toMatchObject({ kind: 'forbidden', extra: { code: 'not_your_act' } })
    await expect(by(walletActor())).rejects.toMatchObject({
      kind: 'not_found',
      extra: { code: 'order_not_found' },
    })
    expect(await countsOf(agent, listing)).toMatchObject(counted(0, 0))
  })

  test('a second review is rejected and not counted', async () => {
    const { agent, listing } = await makeSeller()
    const { id, buyer } = await makeOrder(ctx, listing, { status: 'completed' })
    const first = await createReview(ctx, buyer, { orderId: id, rating: 4, comment: 'Good' })
    await expect(createReview(ctx, buyer, { orderId: id, rating: 1, comment: '' })).rejects.toMatchObject({
      kind: 'conflict',
      extra: { code: 'already_reviewed' },
    })
    expect(await findReviewOf(ctx.db, id)).toEqual(first)
    expect(await countsOf(agent, listing)).toMatchObject(counted(4, 1))
  })

  test(`of ${AT_ONCE} concurrent reviews of one order one is stored and counted`, async () => {
    const { agent, listing } = await makeSeller()
    const { id, buyer } = await makeOrder(ctx, listing, { status: 'completed' })
    const ratings = Array.from({ length: AT_ONCE }, (_, n) => ((n % 5) + 1) as Rating)
    const tries = await Promise.allSettled(
      ratings.map((rating) => createReview(ctx, buyer, { orderId: id, rating, comment: '' })),
    )
    const [stands, ...others] = tries.toSorted((a, b) => a.status.localeCompare(b.status))
    expect(stands).toMatchObject({ status: 'fulfilled' })
    for (const other of others)
      expect(other).toMatchObject({ status: 'rejected', reason: { extra: { code: 'already_reviewed' } } })
    const kept = await findReviewOf(ctx.db, id)
    expect(stands).toMatchObject({ value: kept })
    expect(await countsOf(agent, listing)).toMatchObject(counted(kept?.rating ?? 0, 1))
  })
})

describe('review counters', () => {
  test('sums and counts equal the stored reviews for any sequential or concurrent reviews', async () => {
    const said = fc.record({ service: fc.nat(1), rating: fc.integer({ min: 1, max: 5 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 8 }), fc.boolean(), async (reviews, atOnce) => {
        const { agent, listing } = await makeSeller()
        const listings = [listing, await makeListing(ctx, agent.id, { title: 'A portrait in ink' })] as const
        const one = ({ service, rating }: (typeof reviews)[number]) =>
          review(listings[service === 0 ? 0 : 1], rating as Rating)
        if (atOnce) await Promise.all(reviews.map(one))
        else for (const each of reviews) await one(each)
        const sumOf = (of: typeof reviews) => ({
          ratingSum: of.reduce((sum, { rating }) => sum + rating, 0),
          ratingCount: of.length,
        })
        expect(await findAgentById(ctx.db, agent.id)).toMatchObject(sumOf(reviews))
        for (const [at, { id }] of listings.entries())
          expect(await findListing(ctx.db, id)).toMatchObject(
            sumOf(reviews.filter(({ service }) => service === at)),
          )
        const starsOf = (of: typeof reviews) =>
          [1, 2, 3, 4, 5].map((stars) => of.filter(({ rating }) => rating === stars).length)
        const page = { agentId: agent.id, limit: 1, cursor: undefined }
        expect((await listReviews(ctx, page)).stars).toEqual(starsOf(reviews))
        for (const [at, { id }] of listings.entries())
          expect((await listReviews(ctx, { ...page, listingId: id })).stars).toEqual(
            starsOf(reviews.filter(({ service }) => service === at)),
          )
      }),
      { numRuns: 25 },
    )
  })

  test('a rolled-back review is not counted', async () => {
    const { agent, listing } = await makeSeller()
    const { id, buyer } = await makeOrder(ctx, listing, { status: 'completed' })
    const failing: MarketContext = {
      ...ctx,
      transact: (work) =>
        ctx.transact(async (tx) => {
          await work(tx)
          throw new Error('taken back')
        }),
    }
    const taken = createReview(failing, buyer, { orderId: id, rating: 5, comment: '' })
    await expect(taken).rejects.toThrow('taken back')
    expect(await findReviewOf(ctx.db, id)).toBeUndefined()
    expect(await countsOf(agent, listing)).toMatchObject(counted(0, 0))
  })

  test('the average includes all reviews', async () => {
    const { agent, listing } = await makeSeller()
    for (const rating of [5, 4, 4] as const) await review(listing, rating)
    expect(averageRating(await findAgentById(ctx.db, agent.id))).toBe(4.33)
  })

  test('the database rejects ratings outside 1 to 5 and comments above 500 characters', async () => {
    const { agent, listing } = await makeSeller()
    for (const rating of [0, 6, -1])
      await expect(review(listing, rating as Rating)).rejects.toThrow(/reviews_rating_check/)
    await expect(review(listing, 5, 'x'.repeat(501))).rejects.toThrow(/reviews_comment_check/)
    expect(await countsOf(agent, listing)).toMatchObject(counted(0, 0))
  })
})

describe('listReviews', () => {
  test('returns the agent’s reviews newest first, each once over all pages', async () => {
    const [{ agent, listing }, other] = [await makeSeller(), await makeSeller()]
    await review(other.listing, 1, 'of another')
    for (let n = 0; n < 7; n++) {
      ctx.clock.advance(1)
      await review(listing, 5, `word ${n}`)
    }
    const words = Array.from({ length: 7 }, (_, n) => `word ${6 - n}`)
    const seen: string[] = []
    let cursor: string | undefined
    for (const last of [false, false, true]) {
      const page = await listReviews(ctx, { agentId: agent.id, limit: 3, cursor })
      seen.push(...page.reviews.map(({ comment }) => comment))
      cursor = page.nextCursor(page.reviews.length) ?? undefined
      expect(cursor === undefined).toBe(last)
    }
    expect(seen).toEqual(words)
    const newest = await newestReviews(ctx, agent.id, 2)
    expect(newest.map(({ comment }) => comment)).toEqual(words.slice(0, 2))
  })

  test('reviews with the same timestamp appear once each', async () => {
    const { agent, listing } = await makeSeller()
    for (let n = 0; n < 5; n++) await review(listing, 3)
    const seen = new Set<string>()
    let cursor: string | undefined
    do {
      const page = await listReviews(ctx, { agentId: agent.id, limit: 2, cursor })
      for (const { id } of page.reviews) seen.add(id)
      cursor = page.nextCursor(page.reviews.length) ?? undefined
    } while (cursor !== undefined)
    expect(seen.size).toBe(5)
  })

  test('returns 404 for a missing agent', async () => {
    const agentId = `agt_1_${'0'.repeat(17)}` as const
    await expect(listReviews(ctx, { agentId, limit: 3 })).rejects.toMatchObject({
      kind: 'not_found',
      extra: { code: 'agent_not_found' },
    })
  })
})
