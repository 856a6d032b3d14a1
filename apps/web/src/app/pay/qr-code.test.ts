import { expect, test } from 'vitest'
import { qrCode } from './qr-code.ts'

/** Reads a code back as a camera does: the format, the mask, the bytes in columns from the right. */
function read(rows: readonly (readonly boolean[])[]): { readonly text: string; readonly format: number } {
  const size = rows.length
  const isDark = (row: number, column: number) => rows[row]?.[column] === true
  const places = [
    ...Array.from({ length: 6 }, (_, row) => [row, 8] as const),
    ...([
      [7, 8],
      [8, 8],
      [8, 7],
    ] as const),
    ...Array.from({ length: 6 }, (_, n) => [8, 5 - n] as const),
  ]
  const format = places.reduce((sum, [row, column], bit) => sum | (Number(isDark(row, column)) << bit), 0)
  const isData = (row: number, column: number) =>
    row !== 6 &&
    column !== 6 &&
    !(row < 9 && (column < 9 || column > size - 9)) &&
    !(row > size - 9 && column < 9) &&
    !(size > 21 && Math.abs(row - size + 7) < 3 && Math.abs(column - size + 7) < 3)
  const bits: number[] = []
  let isUp = true
  for (const right of Array.from({ length: size }, (_, n) => size - 1 - n).filter(
    (column) => column > 0 && (column > 6 ? (size - column) % 2 === 1 : column % 2 === 1),
  )) {
    for (let n = 0; n < size; n++)
      for (const column of [right, right - 1]) {
        const row = isUp ? size - 1 - n : n
        if (isData(row, column)) bits.push(Number(isDark(row, column) !== ((row + column) % 2 === 0)))
      }
    isUp = !isUp
  }
  const number = (from: number, count: number) =>
    bits.slice(from, from + count).reduce((sum, bit) => sum * 2 + bit, 0)
  const length = number(4, 8)
  const bytes = Uint8Array.from({ length }, (_, n) => number(12 + 8 * n, 8))
  return { text: number(0, 4) === 4 ? new TextDecoder().decode(bytes) : '', format }
}

/** Level L and mask 0, in the table of the standard. */
const FORMAT = 0b111011111000100

test('a code has the size of its version and says the text, for every length that fits', () => {
  for (let length = 0; length <= 106; length++) {
    const text = 'x'.repeat(length)
    const rows = qrCode(text)
    expect([21, 25, 29, 33, 37]).toContain(rows.length)
    expect(read(rows)).toEqual({ text, format: FORMAT })
  }
  expect(read(qrCode('0x52908400098527886E0F7030069857D2E4169EE7')).text).toBe(
    '0x52908400098527886E0F7030069857D2E4169EE7',
  )
})

test('a text that is too long: throws', () => {
  expect(() => qrCode('x'.repeat(107))).toThrow('do not fit')
})
