import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conceptsOf, isByTheLetter } from './search-words.ts'
import { SYNONYMS } from './synonyms.ts'

const akinTo = (word: string) => conceptsOf(word)[0]?.akin ?? []

describe('a search in concepts', () => {
  test('every word stands for itself, and for what else it is called', () => {
    expect(conceptsOf('cheap logo').map(({ said }) => said)).toEqual(['cheap', 'logo'])
    expect(akinTo('cheap')).toEqual([])
    expect(akinTo('logo')).toEqual(expect.arrayContaining(['branding', 'brand identity']))
  })

  test('the longest phrase with synonyms is one concept', () => {
    expect(conceptsOf('landing page copy').map(({ said }) => said)).toEqual(['landing page', 'copy'])
    expect(akinTo('Landing-Pages')).toContain('website')
  })

  test('plural and singular, capitals and small letters are the same', () => {
    for (const word of ['logos', 'LOGO', 'Logo']) expect(akinTo(word)).toEqual(akinTo('logo'))
  })

  test('every ring leads from each of its words to all the others', () => {
    for (const ring of SYNONYMS) {
      for (const phrase of ring) {
        const others = ring.filter((other) => other !== phrase)
        expect({ phrase, akin: akinTo(phrase) }).toEqual({
          phrase,
          akin: expect.arrayContaining(others) as string[],
        })
      }
    }
  })

  test('no ring names a word twice', () => {
    for (const ring of SYNONYMS) expect(new Set(ring).size).toBe(ring.length)
  })

  test('whatever is asked, there are at most eight concepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (search) => {
        const concepts = conceptsOf(search)
        return concepts.length <= 8 && concepts.every(({ said }) => said !== '')
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
])('%j is taken by the letter: %s', (search, expected) => {
  expect(isByTheLetter(search)).toBe(expected)
})
