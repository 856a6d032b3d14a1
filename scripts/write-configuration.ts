import { readFileSync, writeFileSync } from 'node:fs'
import { apiSettings } from '../packages/platform/src/settings/api.ts'
import { type Described, describe } from '../packages/platform/src/settings/describe.ts'
import { envLine } from '../packages/platform/src/settings/env-line.ts'
import { workerSettings } from '../packages/platform/src/settings/worker.ts'
import { EXAMPLES, SECTIONS } from './configuration-sections.ts'

const PROGRAMS = { api: apiSettings, worker: workerSettings } as const
type Program = keyof typeof PROGRAMS

const names = (settings: readonly Described[]): string => settings.map(({ name }) => `\`${name}\``).join(', ')

/** Neighbours with the same meaning share a row: most settings exist once per network. */
function grouped(settings: readonly Described[]): Described[][] {
  const groups: Described[][] = []
  for (const setting of settings) {
    const last = groups.at(-1)
    if (last?.[0]?.meaning === setting.meaning) last.push(setting)
    else groups.push([setting])
  }
  return groups
}

const programsOf = (name: string): Program[] =>
  (['api', 'worker'] as const).filter((program) => name in PROGRAMS[program])

/** One text when all are equal, otherwise one per setting. */
const together = (texts: readonly string[]): string =>
  (new Set(texts).size === 1 ? texts.slice(0, 1) : texts).join(', ')

/** Without a column for programs in the section of one program. */
function table(section: string): string {
  const found = SECTIONS.find(({ name }) => name === section)
  if (found === undefined) throw new Error(`configuration.md: there is no section of settings "${section}"`)
  const rows = grouped(describe(found.settings)).map((group) => {
    const [first] = group
    if (first === undefined) return ''
    const programs = found.program ?? programsOf(first.name).join(', ')
    return `| ${names(group)} | ${programs} | ${first.secret ? 'yes' : 'no'} | ${first.meaning} | ${together(group.map(({ shown }) => shown))} |`
  })
  return ['| Variable | Program | Secret | Meaning | Default |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** The page with every table between `<!-- settings:name -->` and `<!-- /settings:name -->` written again. */
export const writeTables = (page: string): string =>
  page.replace(
    /(<!-- settings:([\w-]+) -->\n).*?(<!-- \/settings:\2 -->)/gs,
    (_all, begin: string, name: string, end: string) => `${begin}${table(name)}\n${end}`,
  )

/** Links lead nowhere from an environment file. */
const plain = (meaning: string): string => meaning.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')

const WIDTH = 110

function comment(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`# ${word}`)
  }
  return lines
}

/** A setting that must be filled or has a value for `deploy/compose.yaml` is a line; the others are comments. */
function line({ name, shown, value }: Described, program: Program): string {
  const example = EXAMPLES[program][name]
  if (example !== undefined) return envLine(name, example)
  return shown === 'required' ? envLine(name, '') : `#${envLine(name, value)}`
}

export function exampleOf(program: Program): string {
  const parts = SECTIONS.filter((section) => !section.isDevelopment).flatMap((section) => {
    const settings = describe(section.settings).filter(
      ({ name }) => name in PROGRAMS[program] && (section.program ?? program) === program,
    )
    const groups = grouped(settings).flatMap((group) => [
      ...comment(plain(group[0]?.meaning ?? '')),
      ...group.map((setting) => line(setting, program)),
      '',
    ])
    return groups.length === 0 ? [] : [`## ${section.title}`, '', ...groups]
  })
  const head = [
    `# Written by \`npm run docs:configuration\`. The environment of the ${program}; \`npm run deploy:prepare\` writes deploy/${program}.env.`,
    '# A line that begins with # is a setting with its default. docs/operations/configuration.md explains all of them.',
    '',
  ]
  return `${[...head, ...parts].join('\n').trimEnd()}\n`
}

const fileOf = (path: string): URL => new URL(`../${path}`, import.meta.url)
const PAGE = 'docs/operations/configuration.md'

/** Every file that the schemas decide, with the text that it must have. */
export const configurationFiles = (): Readonly<Record<string, string>> => ({
  [PAGE]: writeTables(readFileSync(fileOf(PAGE), 'utf8')),
  'deploy/api.env.example': exampleOf('api'),
  'deploy/worker.env.example': exampleOf('worker'),
})

if (import.meta.main)
  for (const [path, text] of Object.entries(configurationFiles())) writeFileSync(fileOf(path), text)
