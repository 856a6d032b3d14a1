import { stripVTControlCharacters } from 'node:util'

/** Characters that reorder the text beside them, so that it reads differently from what it is. */
const REORDERING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text of others for the terminal: without escape sequences and control characters. Lines and tabs stay. */
export const cleanText = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r\n/g, '\n')
    .replace(/\p{Cc}/gu, (character) => (character === '\n' ? '\n' : character === '\t' ? '  ' : ''))
    .replace(REORDERING, '')

/** The same on one line. */
export const cleanLine = (text: string): string =>
  cleanText(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim()

/** JSON that changes nothing in a terminal: `JSON.stringify` leaves some control characters as they are. */
export const cleanJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
