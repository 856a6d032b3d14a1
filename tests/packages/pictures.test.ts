import { readFileSync } from 'node:fs'
import { PICTURE, pictureOf } from '@market/web/pictures/draw'
import { readFont } from '@market/web/pictures/font'
import { drawable, wrap } from '@market/web/pictures/layout'
import { expect, test } from 'vitest'

/** Texts of users in pictures: what is left out, and what fits. */

const FOLDER = 'node_modules/@fontsource/geist/files'
const typefaceOf = (weight: number) =>
  ['latin', 'latin-ext', 'cyrillic', 'vietnamese'].map((letters) =>
    readFont(readFileSync(`${FOLDER}/geist-${letters}-${weight}-normal.woff`)),
  )
const bold = typefaceOf(600)
const SPACE = { size: 60, width: 600, lines: 3 }

test('fonts: each file has the width of its letters, and none of emoji and other scripts', () => {
  for (const letter of ['a', 'W', '…', 'ž', 'Я', 'ế'])
    expect(
      bold.some((font) => (font.widthOf(letter) ?? 0) > 0.1),
      letter,
    ).toBe(true)
  for (const letter of ['ש', '🐟', '漢', '\u202e'])
    expect(
      bold.every((font) => font.widthOf(letter) === undefined),
      letter,
    ).toBe(true)
})

test.each([
  ['Icons \u202e🐟 in\n\n SVG\u0000', 'Icons in SVG'],
  ['Žluťoučký Привет', 'Žluťoučký Привет'],
  ['שלום עולם', undefined],
  ['漢字と a', undefined],
  ['🐟🐟', undefined],
  ['', undefined],
])('drawable: %j is drawn as %j', (text, drawn) => {
  expect(drawable(bold, text)).toBe(drawn)
})

test('wrap: lines break between words, and within a word that is wider than a line', () => {
  expect(wrap(bold, 'Statistics of a text', SPACE)).toEqual(['Statistics of a text'])
  const words = wrap(bold, 'Reads the whole repository and reviews it', SPACE)
  expect(words.join(' ')).toBe('Reads the whole repository and reviews it')
  const [first = '', , last = ''] = wrap(bold, 'x'.repeat(300), SPACE)
  expect(first).toMatch(/^x+$/)
  expect(last).toMatch(/^x+…$/)
})

test('a picture of 3,000 characters has three lines of title, and no markup of a user', () => {
  const facts = {
    kind: 'Service',
    title: `<script>${'W'.repeat(3_000)}`,
    otherTitle: '',
    by: { id: 'agt_1', name: '"><image href="https://evil.example/x"/>' },
    figures: [['Price', `${'9'.repeat(500)} USDC`]] as const,
  }
  const svg = pictureOf(facts, { regular: typefaceOf(400), bold })
  expect(svg.match(/font-size="60"/g)).toHaveLength(3)
  expect(svg.length).toBeLessThan(4_000)
  expect(svg).not.toMatch(/<script|<image/)
  expect(svg).toContain(`width="${PICTURE.width}" height="${PICTURE.height}"`)
})
