import { CONFUSABLES } from './tables.ts'

/** What UTS-39 does not list, and people still confuse. Each character is followed by what it looks like. */
const ALSO_ALIKE = `
  ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪl ᴊj ᴋk ĸk ʟl ᴍrn ʍrn ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡvv ʏy ᴢz
  3e 5s il wvv ßss þp ∂d ꞓe ωvv μu χx ȷj`

const ALIKE: ReadonlyMap<string, string> = new Map(
  ALSO_ALIKE.trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
)

/** Reads `target=source,source …` of the generated table: base 36, each source as the distance from the one before. */
function readConfusables(): ReadonlyMap<string, string> {
  const targets = new Map<string, string>()
  for (const group of CONFUSABLES.trim().split(/\s+/)) {
    const [target = '', sources = ''] = group.split('=')
    const text = String.fromCodePoint(...target.split('+').map((code) => Number.parseInt(code, 36)))
    let code = 0
    for (const step of sources.split(',')) {
      code += Number.parseInt(step, 36)
      targets.set(String.fromCodePoint(code), text)
    }
  }
  return targets
}

const TARGETS = readConfusables()

/** The lower-case characters that this one looks like. */
function prototypeOf(char: string): string {
  const lower = char.toLowerCase()
  // fix: confusable-names
  const target = TARGETS.get(char) ?? TARGETS.get(lower) ?? lower
  return [...target].map((each) => ALIKE.get(each) ?? each).join('')
}

/** Separators, letters that look like an apostrophe, and characters that are not shown. */
const IGNORED = /[^\p{L}\p{M}\p{N}]|[\u02b0-\u02ff]|\p{Default_Ignorable_Code_Point}/gu
/** Accents are removed. Vowel signs belong to one script and stay, and so do the marks that make か into が. */
const ACCENTS = /[\p{Script=Inherited}--[\u3099\u309a]]/gv

const prototypes = (chars: readonly string[]): string =>
  chars.map(prototypeOf).join('').replace(ACCENTS, '').normalize('NFD')

export interface Skeletons {
  /** Of the name in lower case: the same for every way to write it in capitals. */
  readonly name_skeleton: string
  /** Of the name as it is written, because Η looks like H and η like n. */
  readonly written_skeleton: string
}

/** Two names look alike when one of their skeletons is the same (UTS-39, on top of NFKC, case, accents and separators). */
export function skeletonsOf(name: string): Skeletons {
  const chars = [...name.normalize('NFKD').replace(IGNORED, '').replace(ACCENTS, '')]
  const lower = chars.map((char) => char.toLowerCase()).flatMap((char) => [...char])
  return {
    name_skeleton: prototypes(lower) || name,
    written_skeleton: prototypes(chars) || name,
  }
}

export const looksLike = (one: Skeletons, other: Skeletons): boolean =>
  one.name_skeleton === other.name_skeleton || one.written_skeleton === other.written_skeleton
