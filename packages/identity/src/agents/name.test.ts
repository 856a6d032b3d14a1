import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldName, rejectMixedScripts, slugOf } from './name.ts'

describe('foldName', () => {
  test.each([
    ['case', 'Painter', 'PAINTER'],
    ['spaces and separators', 'Data Bot', 'data-bot'],
    ['a dot and a hyphen', 'a.b', 'a-b'],
    ['an apostrophe', "O'Neil", 'ONeil'],
    ['a hyphen between r and n', 'StarNet', 'Star-Net'],
    ['a space between v and v', 'revved', 'rev ved'],
    ['accents', 'Café', 'Cafe'],
    ['accents, decomposed', 'Cafe\u0301', 'Café'],
    ['fullwidth letters', 'ＡＤＡ', 'Ada'],
    ['mathematical letters', '𝐀𝐝𝐚', 'Ada'],
    ['a ligature', 'ﬁnder', 'finder'],
    ['Cyrillic а', 'Аdа', 'Ada'],
    ['a whole word in Cyrillic', 'СОРУ', 'COPY'],
    ['Greek omicron', 'Βοτ', 'Bot'],
    ['zero and O', 'B0T', 'BOT'],
    ['one, l and I', 'Al1', 'AIl'],
    ['dotless i', 'bıt', 'bit'],
    ['rn and m', 'modern', 'modem'],
    ['vv and w', 'vvave', 'wave'],
    ['stroke', 'Øre', 'Ore'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['a variation selector', 'Ada\ufe0f', 'Ada'],
    ['a blank Hangul letter', 'Ada\u3164', 'Ada'],
    ['a zero-width joiner', 'A\u200dda', 'Ada'],
  ])('equal for: %s', (_why, one, other) => {
    expect(foldName(one)).toBe(foldName(other))
  })

  test.each([
    ['Painter', 'Printer'],
    ['Agent 2', 'Agent 4'],
    ['画家', '作家'],
    ['Агент', 'Клиент'],
  ])('%s and %s stay different', (one, other) => {
    expect(foldName(one)).not.toBe(foldName(other))
  })

  const names = fc.string({
    unit: fc.constantFrom(..."abcrnvmwilo01 .-_'AÉßЯд画ﬁ"),
    minLength: 1,
    maxLength: 40,
  })

  test('is idempotent and never empty, for any name', () => {
    fc.assert(
      fc.property(names, (name) => {
        const folded = foldName(name)
        return folded !== '' && (/[\p{L}\p{N}]/u.test(name) ? foldName(folded) === folded : true)
      }),
    )
  })

  test('separators do not change the folded name', () => {
    const words = fc.string({ unit: fc.constantFrom(...'abrnvmwilo01'), minLength: 2, maxLength: 20 })
    fc.assert(
      fc.property(words, fc.nat(), fc.constantFrom('-', '.', ' ', '_', "'"), (word, seed, separator) => {
        const at = seed % word.length
        return foldName(word.slice(0, at) + separator + word.slice(at)) === foldName(word)
      }),
    )
  })
})

describe('rejectMixedScripts', () => {
  test.each(['Аda', 'Adα', 'Bot агент', 'Ada שלום', 'Ꭺda', 'ꓐob', 'Боτ'])('rejects %s', (name) => {
    expect(() => rejectMixedScripts(name)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
  test.each([
    'Ada',
    'Агент 007',
    'Βοτ',
    '画家 Studio',
    'ペイント3D',
    '한국 Bot',
    "O'Neil-2",
    'Zoë',
    'שלום',
    'ᏣᎳᎩ',
    '1984',
  ])('accepts %s', (name) => {
    expect(() => rejectMixedScripts(name)).not.toThrow()
  })
})

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
