/**
 * QR codes (ISO/IEC 18004) of short texts: bytes, level L, versions 1 to 5, which have one block of error correction. That is
 * enough for an address, and a twentieth of a library.
 */

/** Of each version: bytes of data, and of error correction. */
const VERSIONS = [
  [19, 7],
  [34, 10],
  [55, 15],
  [80, 20],
  [108, 26],
] as const

/** The mode and the length take 12 bits of a code with bytes. */
const HEAD_BYTES = 2
const BYTE_MODE = 0b0100
const PADDING = [0xec, 0x11] as const

/** The rows of the code for a text of at most 106 bytes; true is dark. */
export function qrCode(text: string): readonly (readonly boolean[])[] {
  const bytes = new TextEncoder().encode(text)
  const at = VERSIONS.findIndex(([data]) => bytes.length + HEAD_BYTES <= data)
  const version = VERSIONS[at]
  if (version === undefined) throw new RangeError(`${bytes.length} bytes do not fit into the code.`)
  const [dataLength, checkLength] = version
  const data = dataOf(bytes, dataLength)
  const code = emptyCode(at + 1)
  place(code, [...data, ...remainder(data, checkLength)])
  return code.map((row) => row.map((module) => module.isDark))
}

/** Mode, length and bytes, then padding. */
function dataOf(bytes: Uint8Array, length: number): readonly number[] {
  const half = [BYTE_MODE, bytes.length >> 4, bytes.length & 15]
  for (const byte of bytes) half.push(byte >> 4, byte & 15)
  half.push(0)
  const data: number[] = []
  for (let n = 0; n < half.length; n += 2) data.push(((half[n] ?? 0) << 4) | (half[n + 1] ?? 0))
  for (let n = 0; data.length < length; n++) data.push(PADDING[n % 2] ?? 0)
  return data
}

/** Multiplication in the field of the code. */
function times(one: number, other: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    product ^= ((other >> bit) & 1) * one
  }
  return product
}

/** The error correction of Reed and Solomon. */
function remainder(data: readonly number[], length: number): readonly number[] {
  const divisor: number[] = [...new Array<number>(length - 1).fill(0), 1]
  let root = 1
  for (let n = 0; n < length; n++) {
    for (let at = 0; at < length; at++) divisor[at] = times(divisor[at] ?? 0, root) ^ (divisor[at + 1] ?? 0)
    root = times(root, 2)
  }
  const rest = new Array<number>(length).fill(0)
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0)
    rest.push(0)
    divisor.forEach((one, at) => {
      rest[at] = (rest[at] ?? 0) ^ times(one, factor)
    })
  }
  return rest
}

interface Module {
  readonly isDark: boolean
  /** Whether it is part of a pattern, and not of the data. */
  readonly isFixed: boolean
}
type Grid = Module[][]

const set = (code: Grid, row: number, column: number, isDark: boolean): void => {
  const line = code[row]
  if (line?.[column] !== undefined) line[column] = { isDark, isFixed: true }
}

/** The patterns by which a reader finds its way, and the format: level L with the mask 0. */
function emptyCode(version: number): Grid {
  const size = version * 4 + 17
  const code: Grid = Array.from({ length: size }, () =>
    Array.from({ length: size }, () => ({ isDark: false, isFixed: false })),
  )
  for (let n = 0; n < size; n++) {
    set(code, 6, n, n % 2 === 0)
    set(code, n, 6, n % 2 === 0)
  }
  const square = (middleRow: number, middleColumn: number, radius: number, light: readonly number[]) => {
    for (let row = -radius; row <= radius; row++)
      for (let column = -radius; column <= radius; column++) {
        const ring = Math.max(Math.abs(row), Math.abs(column))
        set(code, middleRow + row, middleColumn + column, !light.includes(ring))
      }
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    square(row, column, 4, [2, 4])
  if (version > 1) square(size - 7, size - 7, 2, [1])
  format(code, size)
  return code
}

/** Level L with the mask 0, with its own error correction. */
const FORMAT = 0b111011111000100

function format(code: Grid, size: number): void {
  for (let bit = 0; bit < 15; bit++) {
    const isDark = ((FORMAT >> bit) & 1) === 1
    // Beside the first corner, around the lines at 6.
    if (bit < 8) set(code, bit < 6 ? bit : bit + 1, 8, isDark)
    else set(code, 8, bit === 8 ? 7 : 14 - bit, isDark)
    // And beside the two others.
    if (bit < 8) set(code, 8, size - 1 - bit, isDark)
    else set(code, size - 15 + bit, 8, isDark)
  }
  set(code, size - 8, 8, true)
}

/** In columns of two from the right, up and down in turn, with the mask. */
function place(code: Grid, bytes: readonly number[]): void {
  const size = code.length
  let bit = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    // The column of the line is left out.
    if (right === 6) right = 5
    const isUp = ((right + 1) & 2) === 0
    for (let n = 0; n < size; n++)
      for (const column of [right, right - 1]) {
        const row = isUp ? size - 1 - n : n
        const line = code[row]
        if (line?.[column]?.isFixed !== false) continue
        const value = (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1
        bit++
        line[column] = { isDark: value !== ((row + column) % 2 === 0), isFixed: false }
      }
  }
}
