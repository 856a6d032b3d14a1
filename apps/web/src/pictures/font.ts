import { inflateSync } from 'node:zlib'

/** A font whose texts can be measured. */
export interface Font {
  /** The file as the drawing library reads it. */
  readonly data: Buffer
  /** The width of a character for a size of 1, or undefined when the font does not have it. */
  readonly widthOf: (character: string) => number | undefined
}

/** Reads a WOFF file. The drawing library takes fonts without compression only. */
export function readFont(woff: Buffer): Font {
  const tables = tablesOf(woff)
  const table = (name: string): Buffer => {
    const found = tables.get(name)
    if (found === undefined) throw new Error(`The font has no table "${name}".`)
    return found
  }
  const glyphs = glyphsOf(table('cmap'))
  const size = table('head').readUInt16BE(18)
  const widths = table('hmtx')
  const lastWidth = table('hhea').readUInt16BE(34) - 1
  return {
    data: uncompressed(woff, tables),
    widthOf: (character) => {
      const glyph = glyphs.get(character.codePointAt(0) ?? 0)
      return glyph === undefined ? undefined : widths.readUInt16BE(4 * Math.min(glyph, lastWidth)) / size
    },
  }
}

const HEAD = 44
const ENTRY = 20

function tablesOf(woff: Buffer): ReadonlyMap<string, Buffer> {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('The font is not a WOFF file.')
  return new Map(
    Array.from({ length: woff.readUInt16BE(12) }, (_, number) => {
      const at = HEAD + ENTRY * number
      const [offset, packed, length] = [4, 8, 12].map((field) => woff.readUInt32BE(at + field)) as [
        number,
        number,
        number,
      ]
      const bytes = woff.subarray(offset, offset + packed)
      return [woff.toString('latin1', at, at + 4), packed < length ? inflateSync(bytes) : bytes]
    }),
  )
}

function uncompressed(woff: Buffer, tables: ReadonlyMap<string, Buffer>): Buffer {
  const head = Buffer.alloc(12 + 16 * tables.size)
  woff.copy(head, 0, 4, 8)
  head.writeUInt16BE(tables.size, 4)
  const parts: Buffer[] = [head]
  let offset = head.length
  for (const [number, bytes] of [...tables.values()].entries()) {
    const [from, to] = [HEAD + ENTRY * number, 12 + 16 * number]
    woff.copy(head, to, from, from + 4)
    head.writeUInt32BE(woff.readUInt32BE(from + 16), to + 4)
    head.writeUInt32BE(offset, to + 8)
    head.writeUInt32BE(bytes.length, to + 12)
    const padding = Buffer.alloc(-bytes.length & 3)
    parts.push(bytes, padding)
    offset += bytes.length + padding.length
  }
  return Buffer.concat(parts)
}

/** The glyph of each character, from the table of format 4, which every font for the web has. */
function glyphsOf(cmap: Buffer): ReadonlyMap<number, number> {
  const offsets = Array.from({ length: cmap.readUInt16BE(2) }, (_, number) =>
    cmap.readUInt32BE(8 + 8 * number),
  )
  const start = offsets.find((offset) => cmap.readUInt16BE(offset) === 4)
  if (start === undefined) throw new Error('The font has no list of characters of format 4.')
  const doubled = cmap.readUInt16BE(start + 6)
  const [ends, begins] = [start + 14, start + 16 + doubled]
  const [deltas, ranges] = [begins + doubled, begins + 2 * doubled]
  const glyphs = new Map<number, number>()
  for (let at = 0; at < doubled; at += 2) {
    const end = cmap.readUInt16BE(ends + at)
    const range = cmap.readUInt16BE(ranges + at)
    const begin = cmap.readUInt16BE(begins + at)
    for (let code = begin; code <= end && code !== 0xffff; code++) {
      const listed = range === 0 ? code : cmap.readUInt16BE(ranges + at + range + 2 * (code - begin))
      const glyph = listed === 0 ? 0 : (listed + cmap.readUInt16BE(deltas + at)) & 0xffff
      if (glyph !== 0) glyphs.set(code, glyph)
    }
  }
  return glyphs
}
