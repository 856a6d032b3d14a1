import { describe, expect, test } from 'vitest'
import { cellOf, idSource } from './ids.ts'

const at = new Date('2026-01-01T00:00:00.123Z')
const clock = { now: () => at, wallTime: () => at }

describe('ids', () => {
  test('an id consists of prefix, time in milliseconds, cell and 16 characters', () => {
    expect(idSource(clock).next('agt')).toMatch(/^agt_1767225600123_0[0-9a-z]{16}$/)
  })

  test('cellOf returns the cell in which the id was created', () => {
    for (const cell of ['0', '7', 'a', 'z']) expect(cellOf(idSource(clock, cell).next('ord'))).toBe(cell)
  })

  test.each(['', '00', 'A', '-', 'é'])('%j is not a cell', (cell) => {
    expect(() => idSource(clock, cell)).toThrow(RangeError)
  })

  test.each([
    '',
    'agt',
    'agt_1',
    'agt_1_',
    'agt_1_0',
    'AGT_1_0a',
    'agt_x_0a',
    'agt_1_0A',
    'agt_1_0a\n',
    'agt_1_0a_b',
  ])('%j has no cell', (text) => {
    expect(cellOf(text)).toBeUndefined()
  })

  test('100,000 ids of one millisecond are unique', () => {
    const ids = idSource(clock)
    expect(new Set(Array.from({ length: 100_000 }, () => ids.next('agt'))).size).toBe(100_000)
  })

  test('all characters are equally likely', () => {
    const ids = idSource(clock)
    const counts = new Map<string, number>()
    for (let n = 0; n < 20_000; n++) {
      for (const letter of ids.next('agt').slice(-16)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    const expected = (20_000 * 16) / 36
    expect(counts.size).toBe(36)
    // Taking bytes modulo 36 would make four letters 14 % likelier; chance alone stays within 6 %.
    for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.07)
  })
})
