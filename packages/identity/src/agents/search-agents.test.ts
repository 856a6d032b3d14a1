import { makeAgent, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchAgents } from './search-agents.ts'

describe('searching agents', () => {
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
    await makeAgent(ctx, { name: 'Hidden Painter', description: 'A painter nobody answers for.' })
  })
  afterAll(() => stop())

  const find = async (search: string) => {
    const { agents } = await searchAgents(ctx, search, {}, { limit: 50 })
    return agents.map((agent) => agent.name)
  }

  test('the exact name comes first, then names that begin with it, then names that hold it, then descriptions', async () => {
    expect(await find('painter')).toEqual(['Painter', 'Painter Deluxe', 'Grand Painter', 'Sketcher'])
    expect((await find('PAINTER'))[0]).toBe('Painter')
  })

  test('a hidden agent is never found', async () => {
    expect(await find('Hidden Painter')).not.toContain('Hidden Painter')
    expect(await find('answers')).toEqual([])
  })

  test('words of a description are found by their stem', async () => {
    expect(await find('campaign')).toEqual(['Illustrator'])
    expect(await find('run drawing')).toEqual(['Illustrator'])
  })

  test('a piece of a name is found', async () => {
    expect(await find('ketch')).toEqual(['Sketcher'])
    expect(await find('sk')).toEqual(['Sketcher'])
    expect(await find('ünï')).toEqual(['Ünïcode'])
  })

  test('signs that mean something to LIKE mean themselves', async () => {
    expect(await find('real_bot')).toEqual(['100 pct Real_Bot'])
    expect(await find('realxbot')).toEqual([])
    expect(await find('___')).toEqual([])
    expect(await find('%')).toEqual([])
    expect(await find('pain%er')).toEqual([])
  })

  test('equal fits are parted by finished orders, then rating', async () => {
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

  test('a cursor of a list is none of a search', async () => {
    const wrong = searchAgents(ctx, 'painter', {}, { limit: 1, cursor: 'WyJwb3B1bGFyIiwxLCJhIl0' })
    await expect(wrong).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('no text anybody can type makes a search fail', async () => {
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
