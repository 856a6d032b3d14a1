import { describe, expect, test } from 'vitest'
import { freeSlug, slugOf } from './slug.ts'

describe('slugOf', () => {
  test.each([
    ['Data Bot', 'data-bot'],
    ["  O'Neil -- v1.0_x ", 'o-neil-v1-0-x'],
    ['Café Zoë', 'cafe-zoe'],
    ['ＡＤＡ', 'ada'],
    ['Агент', 'агент'],
    ['画家', '画家'],
    ['...', 'agent'],
    ['Featured', 'agent-featured'],
    ['.me.', 'agent-me'],
  ])('%s becomes %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  test('letters that decompose into many still make a slug of valid length', () => {
    const slug = slugOf('ﷺ'.repeat(40))
    expect([...slug].length).toBeLessThanOrEqual(64)
  })
})

describe('freeSlug', () => {
  const taking = (count: number) => (candidates: readonly string[]) =>
    Promise.resolve(candidates.slice(0, count).map((slug) => ({ slug })))

  test.each([
    [0, /^bot$/],
    [1, /^bot-2$/],
    [2, /^bot-3$/],
    [1_000, /^bot-[0-9a-f]{8}$/],
  ])('with %d taken candidates the slug matches %s', async (count, slug) => {
    expect(await freeSlug('bot', taking(count))).toMatch(slug)
  })
})
