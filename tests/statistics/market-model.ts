import { rollUpStatistics } from '@market/core/statistics'
import { linkAgent, type Registered, signIn, updateAgent } from '@market/identity/agents'
import { earlier, HOUR, later } from '@market/kernel/clock'
import { findPayment } from '@market/money/payments'
import { type Listing, updateListing } from '@market/offers/listings'
import { agentActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeAgent, makeEvmWallet, makeProfile } from '@market/testing/makers'
import { contestOrder, createReview, type Order } from '@market/trade/orders'
import { deleteAccount } from '@market/work/erasure'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { NETWORK, newBuyer, type OrderFixture, PRICE, type Seller } from '../orders/order-fixture.ts'
import type { Made, OrderModel } from '../orders/order-model.ts'
import { outcome } from '../payments/payment-fixture.ts'
import { placePurchase } from '../support/place-purchase.ts'
import { until } from '../support/until.ts'

const OWNERS = ['none', 'wallet', 'user'] as const
const VERDICTS = ['release', 'refund', 'split'] as const

/** What changes figures beside the steps of an order. */
export type MarketAct =
  | { readonly act: 'register'; readonly owner: (typeof OWNERS)[number] }
  | { readonly act: 'own'; readonly of: number; readonly by: 'wallet' | 'user' }
  | { readonly act: 'list'; readonly of: number }
  | { readonly act: 'switchListing'; readonly of: number }
  | { readonly act: 'deleteAccount'; readonly of: number }
  | { readonly act: 'comeBack'; readonly of: number }
  | { readonly act: 'sell' }
  | { readonly act: 'review'; readonly of: number; readonly rating: 1 | 2 | 3 | 4 | 5 }
  | { readonly act: 'decideContest'; readonly verdict: (typeof VERDICTS)[number] }
  | { readonly act: 'rollUp' }
  | { readonly act: 'killRollUp' }

const as = <K extends MarketAct['act']>(act: K) => fc.constant(act)
const of = fc.nat({ max: 5 })

export const marketActs: fc.Arbitrary<MarketAct> = fc.oneof(
  fc.record({ act: as('register'), owner: fc.constantFrom(...OWNERS) }),
  fc.record({ act: as('own'), of, by: fc.constantFrom('wallet' as const, 'user' as const) }),
  fc.record({ act: as('list'), of }),
  fc.record({ act: as('switchListing'), of }),
  fc.record({ act: as('deleteAccount'), of }),
  fc.record({ act: as('comeBack'), of }),
  fc.record({ act: as('sell') }),
  fc.record({ act: as('review'), of, rating: fc.constantFrom(1, 2, 3, 4, 5) }),
  fc.record({ act: as('decideContest'), verdict: fc.constantFrom(...VERDICTS) }),
  fc.record({ act: as('rollUp') }),
  fc.record({ act: as('killRollUp') }),
)

const REVIEW_REFUSALS = ['order_not_completed', 'payer_not_proven', 'already_reviewed']
const LISTING_REFUSALS = ['not_your_agent', 'too_many_services']

export class MarketModel {
  /** How many workers were ended between taking changes and adding them. */
  kills = 0
  private readonly agents: Registered[] = []
  private readonly listings: Listing[] = []
  private readonly profiles: ReturnType<typeof makeProfile>[] = []
  private readonly fixture: OrderFixture
  private readonly orders: OrderModel
  private readonly seller: Seller

  constructor(fixture: OrderFixture, orders: OrderModel, seller: Seller) {
    this.fixture = fixture
    this.orders = orders
    this.seller = seller
  }

  async step(act: MarketAct): Promise<void> {
    const { ctx } = this.fixture
    switch (act.act) {
      case 'register':
        return this.register(act.owner)
      case 'own':
        return this.own(act)
      case 'list': {
        const agent = this.agents[act.of]?.agent
        if (agent !== undefined) this.listings.push(await makeListing(ctx, agent.id))
        return
      }
      case 'switchListing': {
        const listing = this.listings[act.of]
        if (listing === undefined) return
        const now = await ctx.db
          .selectFrom('listings')
          .select('active')
          .where('id', '=', listing.id)
          .executeTakeFirstOrThrow()
        const actor = agentActor(listing.agentId)
        const ended = await outcome(updateListing(ctx, listing.id, { active: !now.active }, actor))
        if (typeof ended === 'string') expect(LISTING_REFUSALS).toContain(ended)
        return
      }
      case 'deleteAccount': {
        const profile = this.profiles[act.of]
        if (profile === undefined) return
        const ended = await outcome(deleteAccount({ ...ctx, hasSolana: false }, profile.userId))
        if (typeof ended === 'string') expect(ended).toBe('no_account')
        return
      }
      case 'comeBack': {
        const profile = this.profiles[act.of]
        if (profile !== undefined) await signIn(ctx, profile, async () => 0)
        return
      }
      case 'sell':
        return this.sell()
      case 'review':
        return this.review(act)
      case 'decideContest':
        return this.decideContest(act.verdict)
      case 'rollUp':
        await Promise.all([rollUpStatistics(ctx), rollUpStatistics(ctx)])
        return
      case 'killRollUp':
        this.kills += await killRollUp(this.fixture)
        return
    }
  }

  private newProfile() {
    const profile = makeProfile()
    this.profiles.push(profile)
    return profile
  }

  private async register(owner: (typeof OWNERS)[number]): Promise<void> {
    const owners = {
      none: () => ({ kind: 'none' as const }),
      wallet: () => ({ kind: 'wallet' as const, wallet: makeEvmWallet() }),
      user: () => ({ kind: 'user' as const, profile: this.newProfile() }),
    }
    this.agents.push(await makeAgent(this.fixture.ctx, { owner: owners[owner]() }))
  }

  private async own({ of: at, by }: Extract<MarketAct, { act: 'own' }>): Promise<void> {
    const registered = this.agents[at]
    if (registered === undefined) return
    const { ctx } = this.fixture
    const { agent, apiKey } = registered
    const ended =
      by === 'wallet'
        ? await outcome(updateAgent(ctx, agent.id, {}, { editor: 'itself', newOwner: makeEvmWallet() }))
        : await outcome(linkAgent(ctx, this.newProfile(), apiKey))
    // The key of an agent whose owner deleted the account is replaced.
    if (typeof ended === 'string')
      expect(['owner_is_set', 'owned_by_another', 'agent_not_found']).toContain(ended)
  }

  /** An order that comes with its payment, to the end: left to chance alone, few orders would be completed. */
  private async sell(): Promise<void> {
    const { fixture, seller } = this
    const { ctx } = fixture
    const buyer = newBuyer()
    const now = ctx.clock.now()
    const transfer = await findPayment(ctx, NETWORK, {
      reference: fixture.send(buyer.wallet.key),
      minAmount: PRICE,
      notBefore: earlier(now, HOUR),
      notAfter: later(now, HOUR),
    })
    if (transfer === undefined) throw new Error('the transfer was mined')
    const paid = { network: NETWORK, transfer, due: PRICE, payoutWaitMs: HOUR } as const
    const { id } = await ctx.transact((tx) => placePurchase(ctx, tx, seller.listing, paid))
    await fixture.deliver(seller, id)
    this.orders.made.push({ id, seller, buyer })
  }

  private async review({ of: at, rating }: Extract<MarketAct, { act: 'review' }>): Promise<void> {
    const made = (await this.completed()) ?? this.orders.made[at]
    if (made === undefined) return
    const ended = await outcome(
      createReview(this.fixture.ctx, made.buyer, { orderId: made.id, rating, comment: '' }),
    )
    if (typeof ended === 'string') expect(REVIEW_REFUSALS).toContain(ended)
  }

  /** Another request names the payment of a completed order, and an arbiter decides anew. */
  private async decideContest(verdict: (typeof VERDICTS)[number]): Promise<void> {
    // Once an arbiter has decided, nobody can contest it again.
    const made = await this.completed((order) => !order.payerProven)
    if (made === undefined) return
    const { ctx, resolve } = this.fixture
    await ctx.transact((tx) => contestOrder(ctx, tx, made.id))
    await resolve(
      made.id,
      verdict === 'split' ? { outcome: 'split', agentShareBps: 3_333 } : { outcome: verdict },
    )
  }

  private async completed(fits: (order: Order) => boolean = () => true): Promise<Made | undefined> {
    for (const made of this.orders.made) {
      const order = await this.fixture.read(made.id)
      if (order.status === 'completed' && fits(order)) return made
    }
    return undefined
  }
}

/**
 * Two workers move changes. The connection of one ends after it has taken changes and before it has added them to the
 * totals, which a lock stops it from doing.
 */
async function killRollUp({ ctx, db }: OrderFixture): Promise<number> {
  let running = 2
  let failed = 0
  const rollUp = () =>
    rollUpStatistics(ctx)
      .catch(() => {
        failed += 1
      })
      .finally(() => {
        running -= 1
      })
  const workers = await db.transaction().execute(async (blocker) => {
    await sql`lock table statistics in exclusive mode`.execute(blocker)
    const started = [rollUp(), rollUp()]
    // Not in the transaction, which would see the same activity again and again.
    await until('a worker has taken changes, or there are none', async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like '%insert into statistics%'`.execute(db)
      if (rows[0] !== undefined) await sql`select pg_terminate_backend(${rows[0].pid}, 60000)`.execute(db)
      return rows[0] !== undefined || running === 0
    })
    return { started }
  })
  await Promise.all(workers.started)
  return failed
}
