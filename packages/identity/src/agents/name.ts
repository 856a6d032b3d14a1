import { ApiError } from '@market/kernel/api-error'

/** Letters of other scripts, and digits, each followed by the Latin letter it looks like; after NFKC and lower case. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  [
    'аa вb сc ԁd еe ёe һh нh іi їi јj кk ӏl мm оo рp ԛq гr ѕs тt уy хx αa βb εe ηn',
    'ιi κk μm νv οo ρp τt υu χx ωw γy ςs σo ѵv ԝw զq օo ոn սu һh աw ıi ȷj ɑa ɡg ɩi',
    'ʏy ᴏo ᴄc øo đd łl ħh ŧt ßss æae œoe þp ðd 0o 1l 3e 5s il |l',
  ]
    .flatMap((row) => row.split(' '))
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
)

/** Two passes, because a letter may look like one that itself looks like another (ı → i → l). */
const replaceLookAlikes = (text: string): string =>
  [...text].map((letter) => LOOK_ALIKES.get(letter) ?? letter).join('')

/** Names that look alike have the same folded text. */
export function foldName(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase().normalize('NFKD')
  // Separators and invisible letters are removed first, so that they cannot split a pair like `rn`.
  const letters = replaceLookAlikes(replaceLookAlikes(plain)).replace(
    /[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu,
    '',
  )
  const folded = letters.replace(/rn/g, 'm').replace(/vv/g, 'w')
  return folded === '' ? name : folded
}

const SLUG_LENGTH = 64

/** Paths below `/api/agents/`: an agent with such a slug could not be requested by it. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['me', 'featured', 'register', 'recover', 'link'])

/** Lower-case words joined by hyphens, without accents. Letters of other scripts stay. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  // One letter may decompose into many; the slug with a suffix must fit the column.
  const short = [...slug]
    .slice(0, SLUG_LENGTH)
    .join('')
    .replace(/^-+|-+$/g, '')
  if (short === '') return 'agent'
  return RESERVED_SLUGS.has(short) ? `agent-${short}` : short
}

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Thai',
  'Devanagari',
  'Georgian',
] as const
const MIXED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo', 'Common', 'Inherited'] as const
const scripts = (names: readonly string[]) => names.map((script) => `\\p{Script=${script}}`).join('')
const SCRIPT_PATTERNS = [
  ...SCRIPTS.map((script) => ({ script, pattern: new RegExp(scripts([script]), 'v') })),
  // Cherokee, Lisu, Coptic and other scripts contain letters that look like Latin ones.
  { script: 'another', pattern: new RegExp(`[\\p{L}--[${scripts([...SCRIPTS, ...MIXED_SCRIPTS])}]]`, 'v') },
]

/** Mixing alphabets allows names that imitate others. Chinese, Japanese and Korean names may mix scripts. */
export function rejectMixedScripts(name: string): void {
  const used = SCRIPT_PATTERNS.filter(({ pattern }) => pattern.test(name)).map(({ script }) => script)
  if (used.length <= 1) return
  throw new ApiError(
    'invalid',
    `name mixes the alphabets ${used.join(' and ')}. Use letters of one alphabet.`,
    {
      details: [{ path: 'name', message: 'must use one alphabet' }],
    },
  )
}
