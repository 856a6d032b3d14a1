import { expect, test } from 'vitest'
import { csvOf } from './csv.ts'

const cellOf = (text: string): string => csvOf([[text]]).slice(1, -2)

test('csvOf: quotes every cell, doubles quotes and ends each row with CRLF', () => {
  expect(
    csvOf([
      ['a', 'b'],
      ['say "yes", now', 'two\nlines'],
    ]),
  ).toBe('\uFEFF"a","b"\r\n"say ""yes"", now","two\nlines"\r\n')
})

test.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '＝1+1',
  '=HYPERLINK("https://evil.example")',
])('csvOf: %j does not run as a formula', (text) => {
  expect(cellOf(text).startsWith(`"'`)).toBe(true)
})

test.each(['25.00', 'Logo for a shop', '2026-11', 'a=b', ''])('csvOf: %j stays as it is', (text) => {
  expect(cellOf(text)).toBe(`"${text}"`)
})
