/** Where the environment may be read: settings, the start of a program, commands, and what only tests use. */
const READS_ENVIRONMENT =
  /^(apps\/[^/]+|packages\/(?:cli|mcp-stdio|admin))\/src\/(config|main)\.ts$|\/src\/commands\/|^packages\/testing\//

const LONGEST = 300

/** Comments and strings are removed before the check, so that text about a rule does not break it. */
const bare = (source: string) =>
  source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")

/** Which rules for every source file this one breaks. */
export function brokenFileRules(file: string, source: string): string[] {
  const code = bare(source)
  const wrong: string[] = []
  if (/\bexport\s+default\b|\bas\s+default\b/.test(code)) wrong.push('has a default export')
  if (/\bexport\s*\*/.test(code)) wrong.push('exports everything instead of names')
  if (/\bprocess\s*\.\s*env\b|\benv\b[^;\n]*\}\s*=\s*process\b|\{[^}]*\benv\b[^}]*\}\s*from\s*''/.test(code))
    if (!READS_ENVIRONMENT.test(file)) wrong.push('reads the environment')
  const lines = source.trimEnd().split('\n').length
  if (lines > LONGEST && !isGenerated(source)) wrong.push(`is longer than ${LONGEST} lines`)
  return wrong.map((sentence) => `${file} ${sentence}`)
}

const MOST_FILES = 25

/** The folders of domain modules with more files than can be read at once. */
export function crowdedFolders(files: readonly string[]): string[] {
  const folders = Map.groupBy(files, (file) => file.slice(0, file.lastIndexOf('/')))
  return [...folders]
    .filter(([, inside]) => inside.length > MOST_FILES)
    .map(([folder, inside]) => `${folder} has ${inside.length} files, more than ${MOST_FILES}`)
}

export const isGenerated = (source: string) => /^\/\/ Written by `npm run /.test(source)

/** A tilde stands inside every word, so that this list does not find itself. */
const join = (words: readonly string[]) => words.map((word) => word.replace('~', '')).join('|')

const MACHINE_PATHS = join(['/wo~rk/', '/tmp/ba~sh', '/opt/no~de', '/ro~ot/'])

const HOSTS = join([
  'registry\\.np~mjs',
  'np~mjs\\.(?:com|org)',
  'npm~mirror',
  'yarn~pkg\\.com',
  'arti~factory',
  'jf~rog',
  'verda~ccio',
  'py~pi\\.org',
  'python~hosted',
])

const WORKPLACE = join([
  'co-auth~ored-by',
  'anth~ropic',
  'as an a~i\\b',
  '(?:written|generated|made) (?:by|with) (?:an )?a~i\\b',
  '(?:previous|earlier|later|next|another|helper) ses~sions?\\b',
  'con~text window',
  'my~ (?:instructions|task|brief)',
  'the br~ief\\b',
  'br~ief\\.md',
  'shared~/(?:design|notes|examples)',
  'de~sign\\.md',
  'de~sign §',
])

const FORBIDDEN = new RegExp(`(?<![\\w.}-])(?:${MACHINE_PATHS})|${HOSTS}|\\b(?:${WORKPLACE})`, 'gi')

/** Words that tie a file to the machine or the workplace where it was written. */
export const workplaceWords = (text: string): string[] => [...text.matchAll(FORBIDDEN)].map(([word]) => word)
