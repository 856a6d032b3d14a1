import type { Font } from './font.ts'

/** The files of one weight, each with other letters. */
export type Typeface = readonly Font[]

const widthIn = (typeface: Typeface, character: string): number | undefined => {
  for (const font of typeface) {
    const width = font.widthOf(character)
    if (width !== undefined) return width
  }
  return undefined
}

/** The width of a text whose characters are all in the typeface. */
const widthOf = (typeface: Typeface, text: string, size: number): number =>
  [...text].reduce((sum, character) => sum + (widthIn(typeface, character) ?? 0), 0) * size

/** No picture shows more of a text. */
const MAX_CHARACTERS = 300
/** Less than this share of a text says nothing about the rest. */
const LEAST_SHARE = 0.5

/**
 * What can be drawn of a text that a user wrote: characters that no file has (emoji, other scripts, control characters) are
 * left out. Undefined when that is most of it.
 */
export function drawable(typeface: Typeface, text: string): string | undefined {
  const given = [...text.normalize('NFC').slice(0, MAX_CHARACTERS).replace(/\s+/g, ' ').trim()]
  const kept = given.filter((character) => widthIn(typeface, character) !== undefined)
  const isLetter = (character: string) => /[\p{L}\p{N}]/u.test(character)
  const letters = kept.filter(isLetter).length
  if (letters === 0 || letters < given.filter(isLetter).length * LEAST_SHARE) return undefined
  return kept.join('').replace(/ +/g, ' ').trim()
}

interface Space {
  readonly size: number
  readonly width: number
  readonly lines: number
}

/** The lines of a text that fit. The last one ends with "…" when there is more. */
export function wrap(typeface: Typeface, text: string, { size, width, lines }: Space): readonly string[] {
  const fits = (line: string) => widthOf(typeface, line, size) <= width
  const wrapped: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((one) => piecesOf(one, fits))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (fits(longer)) line = longer
    else {
      wrapped.push(line)
      line = word
    }
  }
  wrapped.push(line)
  if (wrapped.length <= lines) return wrapped
  return [...wrapped.slice(0, lines - 1), shortened(wrapped[lines - 1] ?? '', fits)]
}

/** A word, in pieces when it is wider than a line. */
function piecesOf(word: string, fits: (text: string) => boolean): readonly string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of word) {
    if (fits(piece + character)) piece += character
    else {
      pieces.push(piece)
      piece = character
    }
  }
  return [...pieces, piece]
}

function shortened(line: string, fits: (text: string) => boolean): string {
  const characters = [...line]
  while (characters.length > 0 && !fits(`${characters.join('')}…`)) characters.pop()
  return `${characters.join('').trimEnd()}…`
}
