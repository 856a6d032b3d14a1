import { expect, test } from 'vitest'
import { cleanJson, cleanLine, cleanText } from './clean-text.ts'

const ESCAPE = String.fromCharCode(27)

test.each([
  ['colours', `${ESCAPE}[31mred${ESCAPE}[0m`, 'red'],
  ['clearing the screen', `${ESCAPE}[2J${ESCAPE}[Hpaid`, 'paid'],
  ['renaming the window', `${ESCAPE}]0;owned\u0007title`, 'title'],
  ['a link', `${ESCAPE}]8;;https://evil.example\u0007text${ESCAPE}]8;;\u0007`, 'text'],
  ['one-byte controls', '\u009b31mred\u0085', 'red'],
  ['overwriting the line', 'failed\rpaid', 'failedpaid'],
  ['backspaces and bells', 'a\b\bb\u0007', 'ab'],
  ['reversed text', 'abc\u202egpj.exe', 'abcgpj.exe'],
])('removes %s', (_what, text, clean) => {
  expect(cleanText(text)).toBe(clean)
})

test('keeps lines, letters of every script and emoji', () => {
  const text = 'één\n標誌 👩‍💻 §'
  expect(cleanText(text)).toBe(text)
  expect(cleanLine(' a\n  b\r\nc ')).toBe('a b c')
})

test('JSON has the same value and no control character', () => {
  const value = { title: `${ESCAPE}[2J\u009b31m\u202e` }
  const text = cleanJson(value)
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toMatch(/^[\x20-\x7e]*$/)
})
