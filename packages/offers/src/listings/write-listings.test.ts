import { linkAgent, updateAgent } from '@market/identity/agents'
import { MINUTE } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { agentActor, userActor, walletActor } from '@market/testing/make-actor'
import { makeListing, offerOf } from '@market/testing/make-listing'
import { makeAgent, makeEvmWallet, makeListedAgent, makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browseListings } from './browse-listings.ts'
import { createListing } from './create-listing.ts'
import { deactivateListing } from './deactivate-listing.ts'
import { getListing } from './get-listing.ts'
import { listListings } from './list-listings.ts'
import { type Listing, MAX_ACTIVE } from './listing.ts'
import { findListing } from './store.ts'
import { updateListing } from './update-listing.ts'

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

const ANONYMOUS = { kind: 'anonymous' } as const
const forbidden = { kind: 'forbidden', extra: { code: 'not_your_agent' } }
const notFound = { kind: 'not_found' }

const serviceCount = async (id: AgentId) =>
  (await ctx.db.selectFrom('agents').select('service_count').where('id', '=', id).executeTakeFirstOrThrow())
    .service_count

const itself = (listing: Listing) => agentActor(listing.agentId)

const isBrowsed = async ({ id, agentId }: Listing) => {
  const { found } = await browseListings(ctx, { agentId, limit: 100 })
  return found.some(({ listing }) => listing.id === id)
}

describe('creating', () => {
  test('stores every field unchanged; the listing is active, counted and has counters of zero', async () => {
    const { agent } = await makeListedAgent(ctx)
    const offer = offerOf({
      price: usdc(12_345_678n),
      deliverables: ['a file', 'another'],
      demoUrl: 'https://demo.example/x',
      quotaLimit: 7,
      maxRevisions: 0,
      turnaroundHours: 720,
      requirementFields: [{ label: 'Mood', type: 'select', required: true, options: ['calm', 'loud'] }],
    })
    const { listing } = await createListing(ctx, agent.id, offer, agentActor(agent.id))
    const now = ctx.clock.now()
    const counted = { totalOrders: 0, completedOrders: 0, completedBuyers: 0, ratingSum: 0, ratingCount: 0 }
    expect(listing).toEqual({
      ...offer,
      ...counted,
      id: expect.stringMatching(/^svc_/) as string,
      agentId: agent.id,
      slug: 'a-portrait-in-oil',
      active: true,
      marketable: true,
      createdAt: now,
      updatedAt: now,
    })
    expect(await findListing(ctx.db, listing.id)).toEqual(listing)
    expect(await serviceCount(agent.id)).toBe(1)
  })

  test('numbers equal slugs per agent, also for concurrent requests', async () => {
    const { agent } = await makeListedAgent(ctx)
    await Promise.all([1, 2, 3].map(() => makeListing(ctx, agent.id)))
    const { listings } = await listListings(ctx, agent.id, ANONYMOUS, { limit: 10 })
    expect(listings.map(({ slug }) => slug).sort()).toEqual([
      'a-portrait-in-oil',
      'a-portrait-in-oil-2',
      'a-portrait-in-oil-3',
    ])
    const other = await makeListedAgent(ctx)
    expect((await makeListing(ctx, other.agent.id)).slug).toBe('a-portrait-in-oil')
  })

  test('is allowed for the owner wallet and the owning user; others get 403', async () => {
    const wallet = makeEvmWallet()
    const profile = makeProfile()
    const { agent: byWallet } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const { agent: byUser } = await makeAgent(ctx, { owner: { kind: 'user', profile } })
    await createListing(ctx, byWallet.id, offerOf(), walletActor(wallet.key))
    await createListing(ctx, byUser.id, offerOf(), userActor(profile.userId))
    const otherUsers = [ANONYMOUS, walletActor(), agentActor(byUser.id)]
    for (const otherUser of otherUsers) {
      const rejected = createListing(ctx, byWallet.id, offerOf(), otherUser)
      await expect(rejected).rejects.toMatchObject(forbidden)
    }
    expect(await serviceCount(byWallet.id)).toBe(1)
  })

  test('returns 403 for an agent without an owner and 404 for a missing agent', async () => {
    const { agent } = await makeAgent(ctx)
    await expect(createListing(ctx, agent.id, offerOf(), ANONYMOUS)).rejects.toMatchObject(forbidden)
    const missing = 'agt_1_00000000000000000'
    await expect(createListing(ctx, missing, offerOf(), agentActor(missing))).rejects.toMatchObject(notFound)
  })

  test('an invalid offer stores nothing', async () => {
    const { agent } = await makeListedAgent(ctx)
    const bad = createListing(ctx, agent.id, offerOf({ price: null }), agentActor(agent.id))
    await expect(bad).rejects.toMatchObject({ kind: 'invalid' })
    expect(await serviceCount(agent.id)).toBe(0)
  })

  test('allows at most 200 active listings per agent, also for concurrent requests', async () => {
    const { agent } = await makeListedAgent(ctx)
    const first = await makeListing(ctx, agent.id)
    await ctx.db
      .updateTable('agents')
      .set({ service_count: MAX_ACTIVE - 1 })
      .where('id', '=', agent.id)
      .execute()
    const both = await Promise.allSettled([1, 2].map(() => makeListing(ctx, agent.id)))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const again = makeListing(ctx, agent.id)
    await expect(again).rejects.toMatchObject({ kind: 'conflict', extra: { code: 'too_many_services' } })
    await deactivateListing(ctx, first.id, itself(first))
    await makeListing(ctx, agent.id)
    const back = updateListing(ctx, first.id, { active: true }, itself(first))
    await expect(back).rejects.toMatchObject({ kind: 'conflict' })
  })
})

describe('changing', () => {
  test('changes only the given fields; null clears a field; the slug stays', async () => {
    const { agent } = await makeListedAgent(ctx)
    const listing = await makeListing(ctx, agent.id, { demoUrl: 'https://demo.example/' })
    ctx.clock.advance(MINUTE)
    const change = { title: 'Quite another title', demoUrl: null, price: usdc(100_000n) }
    const changed = await updateListing(ctx, listing.id, change, itself(listing))
    expect(changed).toEqual({ ...listing, ...change, updatedAt: ctx.clock.now() })
    expect(await findListing(ctx.db, listing.id)).toEqual(changed)
  })

  test('keeps updated_at when nothing changed', async () => {
    const { agent } = await makeListedAgent(ctx)
    const listing = await makeListing(ctx, agent.id)
    ctx.clock.advance(MINUTE)
    expect(await updateListing(ctx, listing.id, {}, itself(listing))).toEqual(listing)
    const same = { title: listing.title, price: listing.price }
    expect(await updateListing(ctx, listing.id, same, itself(listing))).toEqual(listing)
  })

  test('validates the whole listing, not only the changed fields', async () => {
    const { agent } = await makeListedAgent(ctx)
    const quote = await makeListing(ctx, agent.id, { priceType: 'quote', price: null })
    const wrong = [{ priceType: 'fixed' as const }, { priceType: 'weekly' as const, price: usdc(100_000n) }]
    for (const change of wrong) {
      const rejected = updateListing(ctx, quote.id, change, itself(quote))
      await expect(rejected).rejects.toMatchObject({ kind: 'invalid' })
    }
    expect(await findListing(ctx.db, quote.id)).toEqual(quote)
  })

  test('returns 403 to another user, also for a listing of a hidden agent, and 404 for a missing one', async () => {
    const shown = await makeListing(ctx, (await makeListedAgent(ctx)).agent.id)
    const hidden = await makeListing(ctx, (await makeAgent(ctx)).agent.id)
    const change = (listing: Listing) => updateListing(ctx, listing.id, { maxRevisions: 1 }, ANONYMOUS)
    await expect(change(shown)).rejects.toMatchObject(forbidden)
    await expect(change(hidden)).rejects.toMatchObject(forbidden)
    const nothing = updateListing(ctx, 'svc_1_00000000000000000', {}, ANONYMOUS)
    await expect(nothing).rejects.toMatchObject(notFound)
  })
})

describe('deactivating', () => {
  test('removes it from lists and the counter once; it can be reactivated', async () => {
    const { agent } = await makeListedAgent(ctx)
    const listing = await makeListing(ctx, agent.id)
    for (let round = 0; round < 2; round++) {
      const gone = await deactivateListing(ctx, listing.id, itself(listing))
      expect(gone.active).toBe(false)
      expect(await serviceCount(agent.id)).toBe(0)
      expect(await isBrowsed(listing)).toBe(false)
    }
    const back = await updateListing(ctx, listing.id, { active: true }, itself(listing))
    expect(back.active).toBe(true)
    expect(await serviceCount(agent.id)).toBe(1)
    expect(await isBrowsed(listing)).toBe(true)
  })

  test('ten concurrent requests change the counter once', async () => {
    const { agent } = await makeListedAgent(ctx)
    const [listing] = [await makeListing(ctx, agent.id), await makeListing(ctx, agent.id)]
    const ten = Array.from({ length: 10 }, () => deactivateListing(ctx, listing.id, itself(listing)))
    await Promise.all(ten)
    expect(await serviceCount(agent.id)).toBe(1)
  })

  test('the seller can still read and list it; others get 404', async () => {
    const wallet = makeEvmWallet()
    const { agent } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const listing = await makeListing(ctx, agent.id)
    await deactivateListing(ctx, listing.id, itself(listing))
    for (const seller of [agentActor(agent.id), walletActor(wallet.key)]) {
      expect((await getListing(ctx, listing.id, async () => seller)).id).toBe(listing.id)
      expect((await listListings(ctx, agent.id, seller, { limit: 9 })).listings).toHaveLength(1)
    }
    await expect(getListing(ctx, listing.id, async () => ANONYMOUS)).rejects.toMatchObject(notFound)
    expect((await listListings(ctx, agent.id, ANONYMOUS, { limit: 9 })).listings).toEqual([])
  })
})

describe('an agent without an owner', () => {
  test('its listings are in no list until a wallet or user owns it, and can be read by id', async () => {
    const byWallet = await makeAgent(ctx)
    const byUser = await makeAgent(ctx)
    const listings = [
      await makeListing(ctx, byWallet.agent.id),
      await makeListing(ctx, byUser.agent.id, { title: 'Found by its words' }),
    ]
    for (const listing of listings) {
      expect(listing.marketable).toBe(false)
      expect(await isBrowsed(listing)).toBe(false)
      expect((await getListing(ctx, listing.id, async () => ANONYMOUS)).id).toBe(listing.id)
      const page = await listListings(ctx, listing.agentId, ANONYMOUS, { limit: 1 })
      expect(page.listings.map(({ id }) => id)).toEqual([listing.id])
    }
    await updateAgent(ctx, byWallet.agent.id, {}, { editor: 'itself', newOwner: makeEvmWallet() })
    await linkAgent(ctx, { ...makeProfile(), requestedAt: ctx.clock.now() }, byUser.apiKey)
    for (const listing of listings) {
      expect(await isBrowsed(listing)).toBe(true)
      expect(await findListing(ctx.db, listing.id)).toEqual({ ...listing, marketable: true })
    }
  })

  test('a listing created while the owner is linked is public', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent } = await makeAgent(ctx)
      const [listing] = await Promise.all([
        makeListing(ctx, agent.id),
        updateAgent(ctx, agent.id, {}, { editor: 'itself', newOwner: makeEvmWallet() }),
      ])
      expect((await findListing(ctx.db, listing.id))?.marketable).toBe(true)
    }
  })
})
