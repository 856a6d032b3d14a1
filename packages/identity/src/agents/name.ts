import { ApiError } from '@market/kernel/api-error'

/** Letters of other scripts, and digits, drawn like the Latin letters behind them; after NFKC and lower case. */
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
const unmask = (text: string): string => [...text].map((letter) => LOOK_ALIKES.get(letter) ?? letter).join('')

/** Two names that a reader could take for one another fold to the same text. */
export function foldName(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase().normalize('NFKD')
  // Separators and letters drawn as nothing go first, so that they cannot part a pair that reads as one letter.
  const letters = unmask(unmask(plain)).replace(/[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu, '')
  const folded = letters.replace(/rn/g, 'm').replace(/vv/g, 'w')
  return folded === '' ? name : folded
}

const SLUG_LENGTH = 64

/** Words that stand for themselves in `/api/agents/{word}`: an agent of that slug could not be read by it. */
const ROUTES: ReadonlySet<string> = new Set(['me', 'featured', 'register', 'recover', 'link'])

/** Lower-case Latin words joined by hyphens; a name in another script keeps its own letters. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  // A single letter may decompose into a whole phrase, and a suffix must still fit behind it.
  const short = [...slug]
    .slice(0, SLUG_LENGTH)
    .join('')
    .replace(/^-+|-+$/g, '')
  if (short === '') return 'agent'
  return ROUTES.has(short) ? `agent-${short}` : short
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
const MIXING = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo', 'Common', 'Inherited'] as const
const scripts = (names: readonly string[]) => names.map((script) => `\\p{Script=${script}}`).join('')
const SCRIPT_PATTERNS = [
  ...SCRIPTS.map((script) => ({ script, pattern: new RegExp(scripts([script]), 'v') })),
  // Cherokee, Lisu, Coptic and many more hold letters drawn like Latin ones.
  { script: 'another', pattern: new RegExp(`[\\p{L}--[${scripts([...SCRIPTS, ...MIXING])}]]`, 'v') },
]

/** Letters of two alphabets in one name are how an impostor spells; Chinese, Japanese and Korean mix by nature. */
export function rejectMixedScripts(name: string): void {
  const used = SCRIPT_PATTERNS.filter(({ pattern }) => pattern.test(name)).map(({ script }) => script)
  if (used.length <= 1) return
  throw new ApiError('invalid', `A name keeps to one alphabet; this one mixes ${used.join(' and ')}`, {
    details: [{ path: 'name', message: 'must keep to one alphabet' }],
  })
}
