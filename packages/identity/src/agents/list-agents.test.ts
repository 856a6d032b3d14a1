import { makeAgent, makeEvmWallet, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { featuredAgents, listAgents, listModels } from './list-agents.ts'

type Listing = Parameters<typeof listAgents>[1]

const HOW_MANY = 43

describe('listAgents', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  const all: string[] = []
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
    for (let n = 0; n < HOW_MANY; n++) {
      if (n % 3 === 0) ctx.clock.advance(1)
      const models = n % 2 === 0 ? ['even', 'every'] : ['every']
      const { agent } = await makeListedAgent(ctx, {
        description: 'Paints portraits of whatever you like.',
        capabilities: n % 4 === 0 ? ['image_gen', 'ugc'] : ['coding'],
        aiModels: models,
      })
      all.push(agent.id)
      // Few different values, so that many agents tie and only the id decides their order.
      const figures = {
        total_orders: 9,
        completed_orders: n % 3,
        rating_sum: (n % 5) * 7,
        rating_count: (n % 4) * 2,
      }
      await ctx.db
        .updateTable('agents')
        .set({ ...figures, service_count: n % 2, token_mint: n % 7 === 0 ? '1'.repeat(32) : null })
        .where('id', '=', agent.id)
        .execute()
      await makeAgent(ctx, {
        description: 'Paints portraits, hidden.',
        capabilities: ['coding'],
        aiModels: ['hidden'],
      })
    }
  })
  afterAll(() => stop())

  const readAll = async (listing: Listing) => {
    const agents: Awaited<ReturnType<typeof listAgents>>['agents'][number][] = []
    let cursor: string | undefined
    do {
      const page = await listAgents(ctx, { ...listing, cursor })
      expect(page.agents.length).toBeLessThanOrEqual(listing.limit)
      agents.push(...page.agents)
      cursor = page.nextCursor(page.agents.length) ?? undefined
    } while (cursor !== undefined)
    return agents
  }

  const rank = {
    popular: (agent: { completedOrders: number }) => agent.completedOrders,
    newest: (agent: { createdAt: Date }) => agent.createdAt.getTime(),
    rating: (agent: { ratingSum: number; ratingCount: number }) =>
      (agent.ratingSum + 20) / (agent.ratingCount + 5),
  }

  describe.each(['popular', 'newest', 'rating'] as const)('by %s', (sort) => {
    test.each([1, 5, 7, HOW_MANY, 100])(
      'pages of %i contain every agent exactly once, in order',
      async (limit) => {
        const agents = await readAll({ sort, limit })
        expect(agents.map((agent) => agent.id).sort()).toEqual([...all].sort())
        const ranks = agents.map((agent) => rank[sort](agent))
        expect(ranks).toEqual([...ranks].sort((a, b) => b - a))
      },
    )

    test.each([0.5, -1, 2 ** 31, 1e300, Number.MAX_SAFE_INTEGER])(
      'a forged cursor with rank %d is accepted or rejected with an ApiError',
      async (forged) => {
        const tuple = [`agents:${sort}`, forged, 'agt_1_00000000000000000']
        const cursor = Buffer.from(JSON.stringify(tuple)).toString('base64url')
        const page = await listAgents(ctx, { sort, limit: 5, cursor }).catch((error: unknown) => error)
        expect(page).toMatchObject(
          page instanceof Error ? { kind: 'invalid' } : { agents: expect.any(Array) },
        )
      },
    )

    test('rejects a cursor of another sort order', async () => {
      const { nextCursor } = await listAgents(ctx, { sort, limit: 1 })
      const other = sort === 'newest' ? 'popular' : 'newest'
      const wrong = listAgents(ctx, { sort: other, limit: 1, cursor: nextCursor(1) ?? '' })
      await expect(wrong).rejects.toMatchObject({ kind: 'invalid' })
    })
  })

  test('search: contains every match exactly once for any page size', async () => {
    for (const limit of [1, 4, 50]) {
      const agents = await readAll({ sort: 'popular', search: 'portrait', limit })
      expect(agents.map((agent) => agent.id).sort()).toEqual([...all].sort())
    }
  })

  test('next_cursor is null on the last page, even when it is full', async () => {
    expect((await listAgents(ctx, { sort: 'newest', limit: HOW_MANY })).nextCursor(HOW_MANY)).toBeNull()
    const { nextCursor } = await listAgents(ctx, { sort: 'newest', limit: HOW_MANY - 1 })
    expect(nextCursor(HOW_MANY - 1)).not.toBeNull()
  })

  test.each([
    ['category', { category: 'ugc' }, 11],
    ['model', { model: 'even' }, 22],
    ['services', { withServices: true }, 21],
    ['a token', { tokenized: true }, 7],
    ['no token', { tokenized: false }, 36],
    ['several at once', { category: 'ugc', tokenized: true }, 2],
    ['a model only hidden agents use', { model: 'hidden' }, 0],
  ])('the filter on %s applies before the limit', async (_what, filter, expected) => {
    expect(await readAll({ sort: 'popular', limit: 4, ...filter })).toHaveLength(expected)
    expect(await readAll({ sort: 'popular', search: 'portraits', limit: 4, ...filter })).toHaveLength(
      expected,
    )
  })

  test('lists the agents of an owner wallet', async () => {
    const wallet = makeEvmWallet()
    const { agent } = await makeAgent(ctx, {
      description: 'Of one owner only.',
      owner: { kind: 'wallet', wallet },
    })
    all.push(agent.id)
    const agents = await readAll({ sort: 'newest', limit: 5, ownerWallet: wallet.key, includeHidden: true })
    expect(agents.map((one) => one.id)).toEqual([agent.id])
    await ctx.db.deleteFrom('activity').where('agent_id', '=', agent.id).execute()
    await ctx.db.deleteFrom('agent_wallets').where('agent_id', '=', agent.id).execute()
    await ctx.db
      .deleteFrom('agents')
      .where('id', '=', all.pop() ?? '')
      .execute()
  })

  test('listModels: counts the models of marketable agents, most used first', async () => {
    const { models, nextCursor } = await listModels(ctx, { limit: 200 })
    expect(models).toEqual([
      { model: 'every', agents: HOW_MANY },
      { model: 'even', agents: 22 },
    ])
    expect(nextCursor(2)).toBeNull()
    const rest = await listModels(ctx, { limit: 1, cursor: nextCursor(1) ?? '' })
    expect(rest.models).toEqual([{ model: 'even', agents: 22 }])
  })

  test('featuredAgents: the operators’ order, then the most popular', async () => {
    const [first = '', second = ''] = [all[10], all[3]]
    await ctx.db.updateTable('agents').set({ featured_rank: 1 }).where('id', '=', first).execute()
    await ctx.db.updateTable('agents').set({ featured_rank: 2 }).where('id', '=', second).execute()
    const { agents: featured } = await featuredAgents(ctx, { limit: 6 })
    expect(featured.slice(0, 2).map((agent) => agent.id)).toEqual([first, second])
    expect(featured.slice(2).every((agent) => agent.completedOrders === 2)).toBe(true)
    expect(new Set(featured.map((agent) => agent.id)).size).toBe(6)
    const one = await featuredAgents(ctx, { limit: 1 })
    expect(one.agents).toHaveLength(1)
    const rest = await featuredAgents(ctx, { limit: 5, cursor: one.nextCursor(1) ?? '' })
    expect([...one.agents, ...rest.agents]).toEqual(featured)
  })

  test.each([
    ['popular', 'completed_orders', '1::integer'],
    ['rated', '((rating_sum + 20.0::float8) / (rating_count + 5))', '4.2::float8'],
    ['newest', 'created_at', 'now()'],
  ])('a deep page sorted by %s starts at its position in the index', async (index, key, value) => {
    const plan = await ctx.transact(async (tx) => {
      for (const setting of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort']) {
        await sql.raw(`set local ${setting} = off`).execute(tx)
      }
      const { rows } = await sql
        .raw<{ 'QUERY PLAN': string }>(
          `explain select id from agents where marketable and (${key}, id) < (${value}, 'agt_1')
           order by ${key} desc, id desc limit 21`,
        )
        .execute(tx)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    expect(plan).toContain(`agents_${index}`)
    expect(plan).toContain('Index Cond: (ROW(')
  })
})
