import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkName } from './check-name.ts'
import { looksLike, skeletonsOf } from './skeleton.ts'
import { lookAlikesOf } from './test-look-alikes.ts'

const alike = (one: string, other: string): boolean => looksLike(skeletonsOf(one), skeletonsOf(other))

describe('skeletonsOf', () => {
  test.each([
    ['case', 'Painter', 'PAINTER'],
    ['spaces and separators', 'Data Bot', 'data-bot'],
    ['a dot and a hyphen', 'a.b', 'a-b'],
    ['an apostrophe', "O'Neil", 'ONeil'],
    ['a letter like an apostrophe', 'OʼNeil', "O'Neil"],
    ['a hyphen between r and n', 'StarNet', 'Star-Net'],
    ['a space between v and v', 'revved', 'rev ved'],
    ['accents', 'Café', 'Cafe'],
    ['accents, decomposed', 'Cafe\u0301', 'Café'],
    ['fullwidth letters', 'ＡＤＡ', 'Ada'],
    ['mathematical letters', '𝐀𝐝𝐚', 'Ada'],
    ['a ligature', 'ﬁnder', 'finder'],
    ['Cyrillic а', 'Аdа', 'Ada'],
    ['a word in Cyrillic capitals', 'АСМЕ', 'acme'],
    ['a word in small Cyrillic letters', 'сору', 'COPY'],
    ['a word in Greek capitals', 'ΗΕΝ', 'hen'],
    ['a word in small Greek letters', 'ηον', 'nov'],
    ['Greek capitals and small letters', 'ΑΘΗΝΑ', 'Αθηνα'],
    ['a final sigma', 'ΛΟΓΟΣ', 'λογος'],
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
    ['Cherokee', 'ᎪᏟᎷᎬ', 'ACME'],
    ['Lisu', 'ꓮꓚꓟꓰ', 'ACME'],
    ['small capitals', 'ᴀᴄᴍᴇ ʟᴀʙꜱ', 'Acme Labs'],
    ['one small capital', 'ɢoogle', 'Google'],
  ])('look alike: %s', (_why, one, other) => {
    expect(alike(one, other)).toBe(true)
  })

  test.each([
    ['Painter', 'Printer'],
    ['Agent 2', 'Agent 4'],
    ['hew', 'new'],
    ['画家', '作家'],
    ['Агент', 'Клиент'],
    ['राम', 'रम'],
    ['かき', 'がき'],
    ['ילד', 'לד'],
  ])('%s and %s do not look alike', (one, other) => {
    expect(alike(one, other)).toBe(false)
  })

  const LATIN = fc.string({ unit: fc.constantFrom(..."abcrnvmwilo01 .-_'AÉIO"), minLength: 1, maxLength: 40 })

  test('both skeletons are never empty, and are the same for a name in Latin letters', () => {
    fc.assert(
      fc.property(LATIN, (name) => {
        const { name_skeleton, written_skeleton } = skeletonsOf(name)
        return name_skeleton !== '' && name_skeleton === written_skeleton
      }),
    )
  })

  test('separators do not change the skeletons', () => {
    const words = fc.string({ unit: fc.constantFrom(...'abrnvmwilo01'), minLength: 2, maxLength: 20 })
    fc.assert(
      fc.property(words, fc.nat(), fc.constantFrom('-', '.', ' ', '_', "'"), (word, seed, separator) => {
        const at = seed % word.length
        return alike(word.slice(0, at) + separator + word.slice(at), word)
      }),
    )
  })
})

const EXISTING = [
  'ACME',
  'Google',
  'Pixel Smith',
  'Atelier',
  'OpenPixel',
  'Data Bot',
  'Copy Writer',
  'Nova',
  'Hen House',
  'PayPal',
  'Stripe',
  'Coinbase',
  'Logo Maker',
  'Code Review 9',
  'Solana Scout',
  'Base Builder',
  'Research Pro',
  'SEO Expert',
  'Voice Over',
  'Translate Me',
]

test('names: 0 of 200 look-alikes of 20 names could be registered', () => {
  const registered: string[] = []
  let byRule = 0
  let made = 0
  for (const existing of EXISTING)
    for (const name of lookAlikesOf(existing, 10)) {
      made += 1
      if (isRejected(name)) byRule += 1
      else if (!alike(existing, name)) registered.push(`${name} like ${existing}`)
    }
  expect(made).toBeGreaterThanOrEqual(200)
  expect(registered).toEqual([])
  // Both defences have work to do.
  expect(byRule).toBeGreaterThan(0)
  expect(byRule).toBeLessThan(made)
})

function isRejected(name: string): boolean {
  try {
    checkName(name.normalize('NFC'))
    return false
  } catch {
    return true
  }
}
