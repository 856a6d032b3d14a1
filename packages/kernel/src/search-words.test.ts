import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conceptsOf, isExact } from './search-words.ts'
import { SYNONYMS } from './synonyms.ts'

const synonymsOf = (word: string) => conceptsOf(word)[0]?.synonyms ?? []

describe('conceptsOf', () => {
  test('returns one concept per word, with its synonyms', () => {
    expect(conceptsOf('cheap logo').map(({ words }) => words)).toEqual(['cheap', 'logo'])
    expect(synonymsOf('cheap')).toEqual([])
    expect(synonymsOf('logo')).toEqual(expect.arrayContaining(['branding', 'brand identity']))
  })

  test('returns the longest phrase with synonyms as one concept', () => {
    expect(conceptsOf('landing page copy').map(({ words }) => words)).toEqual(['landing page', 'copy'])
    expect(synonymsOf('Landing-Pages')).toContain('website')
  })

  test('ignores plural and case', () => {
    for (const word of ['logos', 'LOGO', 'Logo']) expect(synonymsOf(word)).toEqual(synonymsOf('logo'))
  })

  test('finds every other phrase of a group for each phrase of it', () => {
    for (const group of SYNONYMS) {
      for (const phrase of group) {
        const others = group.filter((other) => other !== phrase)
        expect({ phrase, synonyms: synonymsOf(phrase) }).toEqual({
          phrase,
          synonyms: expect.arrayContaining(others) as string[],
        })
      }
    }
  })

  test('no group of synonyms contains a phrase twice', () => {
    for (const group of SYNONYMS) expect(new Set(group).size).toBe(group.length)
  })

  test('returns at most eight concepts, none of them empty, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (search) => {
        const concepts = conceptsOf(search)
        return concepts.length <= 8 && concepts.every(({ words }) => words !== '')
      }),
    )
  })
})

test.each([
  ['"exact words"', true],
  ['logo -cheap', true],
  ['-cheap', true],
  ['e-commerce', false],
  ['logo - cheap', false],
  ['logo', false],
])('isExact: %j is %s', (search, expected) => {
  expect(isExact(search)).toBe(expected)
})
