import { ApiError } from '@market/kernel/api-error'
import { RESERVED } from './reserved.ts'
import { looksLike, type Skeletons, skeletonsOf } from './skeleton.ts'
import { ALLOWED } from './tables.ts'

/** Rejects a name that could be read as another one, or as a name of the marketplace itself. */
export function checkName(name: string): void {
  rejectCharacters(name)
  rejectMixedScripts(name)
  rejectReservedWords(name)
}

/** The characters of the contract's pattern that are not letters, marks or numbers. */
const SEPARATORS = " .-_'"

const ALLOWED_RANGES = readRanges()

function readRanges(): readonly (readonly [first: number, last: number])[] {
  const edges: number[] = []
  let edge = 0
  for (const step of ALLOWED.trim().split(/\s+/)) {
    edge += Number.parseInt(step, 36)
    edges.push(edge)
  }
  return edges.flatMap((first, at) => (at % 2 === 0 ? [[first, edges[at + 1] ?? first] as const] : []))
}

const isAllowed = (char: string): boolean => {
  const code = char.codePointAt(0) ?? 0
  return SEPARATORS.includes(char) || ALLOWED_RANGES.some(([first, last]) => first <= code && code <= last)
}

/** UTS-39 identifier status: letters of historic scripts, of phonetic notation and similar ones imitate others. */
function rejectCharacters(name: string): void {
  const wrong = [...name].find((char) => !isAllowed(char))
  if (wrong === undefined) return
  const code = wrong.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  throw notAllowed(
    `name contains ${wrong} (U+${code}), which is rarely used or imitates other letters. Use ordinary letters.`,
    `must not contain ${wrong} (U+${code})`,
  )
}

/** The recommended scripts of UAX 31. Characters of other scripts are not allowed in the first place. */
const SCRIPTS =
  'Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'.split(
    ' ',
  )

/** UTS-39 "Highly Restrictive": one script, or one of these combinations. */
const COMBINATIONS = [
  ...SCRIPTS.map((script) => [script]),
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
]

const COMBINATION_PATTERNS = COMBINATIONS.map((scripts) => {
  const sets = ['Common', 'Inherited', ...scripts].map((script) => `\\p{Script_Extensions=${script}}`)
  return new RegExp(`^[${sets.join('')}]*$`, 'u')
})
const SCRIPT_PATTERNS = SCRIPTS.map((script) => ({
  script,
  pattern: new RegExp(`\\p{Script=${script}}`, 'u'),
}))

function rejectMixedScripts(name: string): void {
  if (COMBINATION_PATTERNS.some((pattern) => pattern.test(name))) return
  const used = SCRIPT_PATTERNS.filter(({ pattern }) => pattern.test(name)).map(({ script }) => script)
  throw notAllowed(
    `name mixes the alphabets ${used.join(' and ')}. Use letters of one alphabet.`,
    'must use one alphabet',
  )
}

const notAllowed = (message: string, detail: string): ApiError =>
  new ApiError('invalid', message, {
    code: 'name_not_allowed',
    details: [{ path: 'name', message: detail }],
  })

const RESERVED_SKELETONS: readonly (Skeletons & { readonly words: string })[] = RESERVED.map((words) => ({
  words,
  ...skeletonsOf(words),
}))

/** Neighbouring words count as one too, so that `Ad-min` is `Admin`. */
function rejectReservedWords(name: string): void {
  const words = name.split(/[^\p{L}\p{M}\p{N}]+/u)
  for (let first = 0; first < words.length; first++)
    for (let end = first + 1; end <= words.length; end++) {
      const skeletons = skeletonsOf(words.slice(first, end).join(''))
      const reserved = RESERVED_SKELETONS.find((each) => looksLike(each, skeletons))
      if (reserved === undefined) continue
      throw new ApiError(
        'invalid',
        `name contains ${JSON.stringify(reserved.words)}, which is reserved for the marketplace. Choose a name without it.`,
        { code: 'name_reserved', details: [{ path: 'name', message: `must not contain ${reserved.words}` }] },
      )
    }
}
