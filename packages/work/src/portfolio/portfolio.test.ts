import type { Actor } from '@market/core/context'
import { later, SECOND } from '@market/kernel/clock'
import type { AgentId, OrderId } from '@market/kernel/ids'
import type { Listing } from '@market/offers/listings'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { makeEvmWallet, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { type Deliverable, type Status, TRANSITIONS } from '@market/trade/orders'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listPortfolio, newestPortfolio } from './list-portfolio.ts'
import { MAX_HIDDEN, type Source } from './portfolio.ts'
import { updatePortfolio } from './update-portfolio.ts'

const ANYONE: Actor = { kind: 'anonymous' }
const LOGO = { type: 'image', url: 'https://files.example/logo.png' } as const
const NOTES = { type: 'text', content: 'How it was made' } as const

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
  const listing = await makeListing(ctx, agent.id)
  return { agentId: agent.id, agent: agentActor(agent.id), owner: walletActor(owner.key), listing }
}

let placed = 0

/** A completed order, one second newer than the one before. */
async function makeWork(
  listing: Listing,
  items: readonly Deliverable[] = [LOGO],
  status: Status = 'completed',
) {
  const { id } = await makeOrder(ctx, listing, { status })
  placed += 1
  const at = later(ctx.clock.now(), placed * SECOND)
  await ctx.db.updateTable('orders').set({ created_at: at }).where('id', '=', id).execute()
  await ctx.db
    .insertInto('order_deliveries')
    .values({ order_id: id, n: 1, note: null, items: JSON.stringify(items), at })
    .execute()
  return id
}

const idsOf = async (agentId: AgentId, actor: Actor = ANYONE) =>
  (await listPortfolio(ctx, agentId, actor, { limit: 100 })).entries.map(({ order }) => order.id)

const change = (actor: Actor, agentId: AgentId, action: 'hide' | 'unhide', source: Source) =>
  updatePortfolio(ctx, actor, { agentId, action, source })

const order = (id: OrderId): Source => ({ type: 'order', id })
const item = (id: OrderId, position: number): Source => ({ type: 'deliverable', id: `${id}:${position}` })

const NOT_FOUND = { kind: 'not_found', extra: { code: 'portfolio_source_not_found' } }

describe('what is in a portfolio', () => {
  const others = (Object.keys(TRANSITIONS) as Status[]).filter((status) => status !== 'completed')

  test.each(others)('%s orders are not in it and cannot be hidden', async (status) => {
    const { agentId, agent, listing } = await makeSeller()
    const id = await makeWork(listing, [LOGO], status)
    expect(await idsOf(agentId)).toEqual([])
    expect(await idsOf(agentId, agent)).toEqual([])
    await expect(change(agent, agentId, 'hide', order(id))).rejects.toMatchObject(NOT_FOUND)
  })

  test.each([
    ['private', { is_private: true }],
    ['contested', { contested_at: new Date(0), payment_method: 'x402', payer_proven: false }],
  ])('a completed order that is %s is not in it, not for the agent either', async (_, columns) => {
    const { agentId, agent, listing } = await makeSeller()
    const id = await makeWork(listing)
    await ctx.db.updateTable('orders').set(columns).where('id', '=', id).execute()
    expect(await idsOf(agentId)).toEqual([])
    expect(await idsOf(agentId, agent)).toEqual([])
    expect(await newestPortfolio(ctx, agentId, 6)).toEqual([])
    await expect(change(agent, agentId, 'hide', order(id))).rejects.toMatchObject(NOT_FOUND)
    await expect(change(agent, agentId, 'hide', item(id, 1))).rejects.toMatchObject(NOT_FOUND)
  })

  test('an entry has the items of the newest delivery', async () => {
    const { agentId, listing } = await makeSeller()
    const id = await makeWork(listing, [LOGO])
    await ctx.db
      .insertInto('order_deliveries')
      .values({ order_id: id, n: 2, note: null, items: JSON.stringify([NOTES, LOGO]), at: ctx.clock.now() })
      .execute()
    const [entry] = await newestPortfolio(ctx, agentId, 6)
    expect(entry?.deliverables).toEqual([
      { id: `${id}:1`, item: NOTES, isHidden: false },
      { id: `${id}:2`, item: LOGO, isHidden: false },
    ])
  })

  test('an entry of a workspace has its newest 20 completed generations, each of which can be hidden', async () => {
    const { agentId, agent } = await makeSeller()
    const listing = await makeListing(ctx, agentId, { priceType: 'weekly', quotaLimit: 50 })
    const { id } = await makeOrder(ctx, listing, { status: 'completed' })
    const made = Array.from({ length: 25 }, (_, n) => ({
      id: ctx.ids.next('dlv'),
      order_id: id,
      prompt: `Number ${n}`,
      status: n === 24 ? 'failed' : 'completed',
      item: n === 24 ? null : JSON.stringify(NOTES),
      failure: n === 24 ? 'Too hard' : null,
      deadline: ctx.clock.now(),
      created_at: later(ctx.clock.now(), n * SECOND),
      ended_at: ctx.clock.now(),
    }))
    await ctx.db.insertInto('workspace_deliverables').values(made).execute()
    const newest = made.slice(4, 24).map((one) => one.id)
    const shown = async () => (await newestPortfolio(ctx, agentId, 6))[0]?.deliverables.map((one) => one.id)
    expect(await shown()).toEqual(newest.toReversed())

    const hidden = { type: 'deliverable', id: newest[3] ?? '' } as const
    await change(agent, agentId, 'hide', hidden)
    expect(await shown()).toEqual(newest.toReversed().filter((one) => one !== hidden.id))
    for (const index of [0, 24])
      await expect(
        change(agent, agentId, 'hide', { type: 'deliverable', id: made[index]?.id ?? '' }),
      ).rejects.toMatchObject(NOT_FOUND)
  })
})

describe('hide and unhide', () => {
  test('a hidden order is shown to the agent and its owner only, until it is shown again', async () => {
    const { agentId, agent, owner, listing } = await makeSeller()
    const [first, second] = [await makeWork(listing), await makeWork(listing)]
    expect(await change(agent, agentId, 'hide', order(first))).toMatchObject({ isHidden: true })
    expect(await idsOf(agentId)).toEqual([second])
    expect(await idsOf(agentId, walletActor())).toEqual([second])
    for (const seller of [agent, owner]) expect(await idsOf(agentId, seller)).toEqual([second, first])
    expect(await change(owner, agentId, 'unhide', order(first))).toMatchObject({ isHidden: false })
    expect(await idsOf(agentId)).toEqual([second, first])
  })

  test('a hidden deliverable leaves the others of its order', async () => {
    const { agentId, agent, listing } = await makeSeller()
    const id = await makeWork(listing, [LOGO, NOTES])
    await change(agent, agentId, 'hide', item(id, 1))
    const shown = async (actor: Actor) => (await listPortfolio(ctx, agentId, actor, { limit: 1 })).entries[0]
    expect((await shown(ANYONE))?.deliverables).toEqual([{ id: `${id}:2`, item: NOTES, isHidden: false }])
    expect((await shown(agent))?.deliverables.map(({ isHidden }) => isHidden)).toEqual([true, false])
  })

  test('both are idempotent', async () => {
    const { agentId, agent, listing } = await makeSeller()
    const id = await makeWork(listing)
    for (let round = 0; round < 2; round++) await change(agent, agentId, 'hide', order(id))
    expect(await idsOf(agentId)).toEqual([])
    for (let round = 0; round < 2; round++) await change(agent, agentId, 'unhide', order(id))
    expect(await idsOf(agentId)).toEqual([id])
  })

  test('pages have as many entries as were asked for when orders between them are hidden', async () => {
    const { agentId, agent, listing } = await makeSeller()
    const ids: OrderId[] = []
    for (let n = 0; n < 9; n++) ids.unshift(await makeWork(listing))
    for (const id of ids.filter((_, n) => n % 2 === 1)) await change(agent, agentId, 'hide', order(id))
    const visible = ids.filter((_, n) => n % 2 === 0)
    const first = await listPortfolio(ctx, agentId, ANYONE, { limit: 3 })
    expect(first.entries.map((entry) => entry.order.id)).toEqual(visible.slice(0, 3))
    const rest = await listPortfolio(ctx, agentId, ANYONE, { limit: 3, cursor: first.nextCursor(3) ?? '' })
    expect(rest.entries.map((entry) => entry.order.id)).toEqual(visible.slice(3))
    expect(rest.nextCursor(rest.entries.length)).toBeNull()
  })

  test('returns 404 for the work of another agent, a missing item, and ids of other kinds', async () => {
    const { agentId, agent, listing } = await makeSeller()
    const own = await makeWork(listing)
    const other = await makeWork((await makeSeller()).listing)
    for (const source of [
      order(other),
      item(other, 1),
      item(own, 2),
      item(own, 0),
      { type: 'order', id: `${own}:1` },
      { type: 'deliverable', id: own },
      { type: 'deliverable', id: 'dlv_1' },
    ] as const)
      await expect(change(agent, agentId, 'hide', source)).rejects.toMatchObject(NOT_FOUND)
  })

  test('returns 403 to another agent, wallet and buyer, and changes nothing', async () => {
    const { agentId, listing } = await makeSeller()
    const { agent: other, owner } = await makeSeller()
    const id = await makeWork(listing)
    for (const actor of [other, owner, walletActor()])
      await expect(change(actor, agentId, 'hide', order(id))).rejects.toMatchObject({
        kind: 'forbidden',
        extra: { code: 'not_your_agent' },
      })
    expect(await idsOf(agentId)).toEqual([id])
  })

  test(`returns 409 portfolio_hidden_limit above ${MAX_HIDDEN} hidden sources`, async () => {
    const { agentId, agent, listing } = await makeSeller()
    const id = await makeWork(listing, [LOGO])
    await sql`insert into portfolio_hidden (agent_id, source_type, source_id, order_id, hidden_at)
      select ${agentId}, 'deliverable', 'dlv_' || n, ${id}, now() from generate_series(1, ${MAX_HIDDEN - 1}) as n`.execute(
      ctx.db,
    )
    await change(agent, agentId, 'hide', order(id))
    await change(agent, agentId, 'hide', order(id))
    await expect(change(agent, agentId, 'hide', item(id, 1))).rejects.toMatchObject({
      kind: 'conflict',
      extra: { code: 'portfolio_hidden_limit' },
    })
  })
})
