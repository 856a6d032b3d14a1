import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { pictureOf, type Typefaces } from './draw.ts'
import type { PictureFacts } from './facts.ts'
import { readFont } from './font.ts'

/** A thread that draws one picture after the other, so that pages do not wait for pictures. The build copies its files. */
const FILES = join(import.meta.dirname, 'pictures')

export interface PictureRequest {
  readonly id: number
  readonly facts: PictureFacts
}

export type PictureResponse =
  | { readonly id: number; readonly png: Uint8Array }
  | { readonly id: number; readonly error: string }

const LETTERS = ['latin', 'latin-ext', 'cyrillic', 'vietnamese'] as const
const typefaceOf = (weight: 400 | 600) =>
  LETTERS.map((letters) => readFont(readFileSync(join(FILES, `geist-${letters}-${weight}-normal.woff`))))
const typefaces: Typefaces = { regular: typefaceOf(400), bold: typefaceOf(600) }
const font = {
  fontBuffers: [...typefaces.regular, ...typefaces.bold].map(({ data }) => data),
  defaultFontFamily: 'Geist',
  loadSystemFonts: false,
}
await initWasm(readFileSync(join(FILES, 'resvg.wasm')))

function draw(facts: PictureFacts): Uint8Array {
  const drawing = new Resvg(pictureOf(facts, typefaces), { font })
  const image = drawing.render()
  try {
    return image.asPng()
  } finally {
    image.free()
    drawing.free()
  }
}

parentPort?.on('message', ({ id, facts }: PictureRequest) => {
  try {
    const response: PictureResponse = { id, png: draw(facts) }
    parentPort?.postMessage(response)
  } catch (error) {
    const response: PictureResponse = { id, error: String(error) }
    parentPort?.postMessage(response)
  }
})
