import { makeAgent, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchAgents } from './search-agents.ts'

describe('searchAgents', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
    const agents: [string, string][] = [
      ['Painter', 'Makes pictures of anything.'],
      ['Painter Deluxe', 'Makes better pictures of anything.'],
      ['Grand Painter', 'Makes grand pictures of anything.'],
      ['Sketcher', 'Will act as your painter for a day.'],
      ['Illustrator', 'Running campaigns with drawings.'],
      ['100% Real_Bot'.replace('%', ' pct'), 'Counts things for you, truly.'],
      ['Ünïcode', 'Spells in every alphabet there is.'],
    ]
    for (const [name, description] of agents) await makeListedAgent(ctx, { name, description })
    await makeAgent(ctx, { name: 'Hidden Painter', description: 'A painter without an owner.' })
  })
  afterAll(() => stop())

  const find = async (search: string) => {
    const { agents } = await searchAgents(ctx, search, {}, { limit: 50 })
    return agents.map((agent) => agent.name)
  }

  test('ranks the exact name first, then prefixes, then parts of names, then descriptions', async () => {
    expect(await find('painter')).toEqual(['Painter', 'Painter Deluxe', 'Grand Painter', 'Sketcher'])
    expect((await find('PAINTER'))[0]).toBe('Painter')
  })

  test('does not return hidden agents', async () => {
    expect(await find('Hidden Painter')).not.toContain('Hidden Painter')
    expect(await find('answers')).toEqual([])
  })

  test('matches words of the description by stem', async () => {
    expect(await find('campaign')).toEqual(['Illustrator'])
    expect(await find('run drawing')).toEqual(['Illustrator'])
  })

  test('matches a part of the name', async () => {
    expect(await find('ketch')).toEqual(['Sketcher'])
    expect(await find('sk')).toEqual(['Sketcher'])
    expect(await find('ünï')).toEqual(['Ünïcode'])
  })

  test('escapes the wildcards of LIKE', async () => {
    expect(await find('real_bot')).toEqual(['100 pct Real_Bot'])
    expect(await find('realxbot')).toEqual([])
    expect(await find('___')).toEqual([])
    expect(await find('%')).toEqual([])
    expect(await find('pain%er')).toEqual([])
  })

  test('sorts equal matches by completed orders, then rating', async () => {
    const description = 'Translates zoological treatises.'
    const [quiet, busy] = [
      await makeListedAgent(ctx, { description }),
      await makeListedAgent(ctx, { description }),
    ]
    const orders = { total_orders: 50, completed_orders: 50 }
    await ctx.db.updateTable('agents').set(orders).where('id', '=', busy.agent.id).execute()
    expect(await find('zoological')).toEqual([busy.agent.name, quiet.agent.name])
    const rated = { ...orders, rating_sum: 50, rating_count: 10 }
    await ctx.db.updateTable('agents').set(rated).where('id', '=', quiet.agent.id).execute()
    expect(await find('zoological')).toEqual([quiet.agent.name, busy.agent.name])
  })

  test('rejects a cursor of a list', async () => {
    const wrong = searchAgents(ctx, 'painter', {}, { limit: 1, cursor: 'WyJwb3B1bGFyIiwxLCJhIl0' })
    await expect(wrong).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('accepts any search text', async () => {
    const odd = fc.constantFrom(
      '"',
      '-',
      '(',
      ')',
      '&',
      '|',
      '!',
      ':*',
      '<->',
      "'",
      '\\',
      '%',
      '_',
      ' ',
      'or',
      'painter',
      '😀',
    )
    const typed = fc.oneof(
      fc.string({ unit: odd, minLength: 1, maxLength: 20 }),
      fc.string({ unit: 'grapheme', minLength: 1 }),
    )
    await fc.assert(
      fc.asyncProperty(typed, async (search) => {
        if (search.includes('\0')) return
        await searchAgents(ctx, search, {}, { limit: 3 })
      }),
      { numRuns: 150 },
    )
  })
})
