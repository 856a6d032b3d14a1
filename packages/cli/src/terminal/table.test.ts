import { describe, expect, test } from 'vitest'
import { painter, usesColors } from './colors.ts'
import { type Column, fieldLines, tableLines } from './table.ts'
import { truncate, widthOf, wrap } from './width.ts'

const ESCAPE = String.fromCharCode(27)
const plain = painter(false)
const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'TITLE', shrinks: true },
  { title: 'USD', align: 'right' },
]
const ROWS = [
  ['svc_1', 'A very long title that does not fit into a narrow terminal', '5.00'],
  ['svc_22', '標誌設計', '120.50'],
]

describe('table', () => {
  test('is as wide as its content where the output is not a terminal', () => {
    const lines = tableLines(COLUMNS, ROWS, { width: undefined, paint: plain })
    expect(lines[1]).toBe('svc_1   A very long title that does not fit into a narrow terminal    5.00')
    expect(lines[0]?.endsWith('   USD')).toBe(true)
  })

  test.each([30, 40, 60, 80])('fits %d columns and cuts off only what may shrink', (width) => {
    const lines = tableLines(COLUMNS, ROWS, { width, paint: plain })
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width)
    expect(lines.join('\n')).toContain('svc_22')
    expect(lines.join('\n')).toContain('120.50')
  })

  test('becomes blocks of lines where the columns cannot fit', () => {
    const lines = tableLines(COLUMNS, ROWS, { width: 20, paint: plain })
    expect(lines.slice(0, 2)).toEqual(['ID     svc_1', 'TITLE  A very long'])
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(20)
  })

  test('cleans cells before it colours them', () => {
    const cell = { text: `${ESCAPE}[2Jpaid\nnow`, style: 'green' } as const
    const [, line] = tableLines([{ title: 'S' }], [[cell]], { width: undefined, paint: painter(true) })
    expect(line).toBe(`${ESCAPE}[32mpaid now${ESCAPE}[39m`)
  })

  test('shows a dash for what is absent', () => {
    expect(fieldLines([['rating', null]], { width: undefined, paint: plain })).toEqual(['rating  -'])
  })
})

describe('width', () => {
  test.each([
    ['abc', 3],
    ['標誌', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👩‍💻', 2],
  ])('%s takes %d columns', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  test('truncates by columns and never in the middle of a character', () => {
    expect(truncate('標誌設計', 5)).toBe('標誌…')
    expect(truncate('short', 5)).toBe('short')
  })

  test('wraps at spaces and breaks words that are too long', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrap('0123456789abcdef', 8)).toEqual(['01234567', '89abcdef'])
  })
})

describe('colours', () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ TERM: 'dumb' }, true, false],
  ])('with %j on a terminal %s: %s', (environment, isTerminal, expected) => {
    expect(usesColors(environment, isTerminal)).toBe(expected)
  })
})
