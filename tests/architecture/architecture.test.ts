import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { MODULES, TEST } from '../../architecture.rules.ts'
import { OWNERS } from '../../architecture.tables.ts'
import { brokenFileRules, crowdedFolders, isGenerated, workplaceWords } from './file-rules.ts'
import { readImports, unreached } from './imports.ts'
import { foreignReads, foreignWrites } from './table-writes.ts'

const FILES = globSync('{apps,packages}/*/src/**/*.ts')
const PRODUCTION = FILES.filter((file) => !new RegExp(TEST).test(file))
const ALL_MODULES: string[] = Object.values(MODULES).flat()

/** Files that are still too long. Remove a file from the list after splitting it. */
const STILL_TOO_LONG = ['packages/platform/src/identity/oidc-identity.test.ts is longer than 300 lines']

const read = (file: string) => readFileSync(file, 'utf8')

describe('imports', () => {
  let imports: Awaited<ReturnType<typeof readImports>>
  beforeAll(async () => {
    imports = await readImports(process.cwd(), ['apps', 'packages', 'scripts', 'tests'])
  })

  test('no import breaks a rule', () => {
    const wrong = imports.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)
    expect(wrong).toEqual([])
  })

  test('every file is imported by a program, a command or a test', () => {
    expect(unreached(imports)).toEqual([])
  })

  test('every file was read, with its imports', () => {
    expect(PRODUCTION.length).toBeGreaterThan(0)
    expect(imports.summary.totalCruised).toBeGreaterThanOrEqual(PRODUCTION.length)
    const found = new Map(imports.modules.map(({ source, dependencies }) => [source, dependencies.length]))
    const unread = FILES.filter((file) => {
      const hasImports = /^(?:import|export)\b[^'\n]*\bfrom '|^\} from '/m.test(read(file))
      return !found.has(file) || (hasImports && found.get(file) === 0)
    })
    expect(unread).toEqual([])
  })
})

describe('tables', () => {
  const tables = [...read('packages/database/src/tables.ts').matchAll(/^ {2}(\w+): \{$/gm)].map(
    ([, name]) => name,
  )

  test('every table has one owner, and every owned table exists', () => {
    expect(tables.length).toBeGreaterThan(0)
    expect(Object.keys(OWNERS).toSorted()).toEqual(tables.toSorted())
  })

  test('every owner is a module', () => {
    expect(Object.values(OWNERS).filter((owner) => !ALL_MODULES.includes(owner))).toEqual([])
  })

  test('a module writes only its own tables, and only in its store', () => {
    const writers = PRODUCTION.filter((file) => !file.startsWith('packages/testing/'))
    expect(writers.flatMap((file) => foreignWrites(file, read(file)))).toEqual([])
  })

  test('a table that only its owner reads is read by no other module', () => {
    const readers = PRODUCTION.filter((file) => !file.startsWith('packages/testing/'))
    expect(readers.flatMap((file) => foreignReads(file, read(file)))).toEqual([])
  })
})

const LARGER: Readonly<Record<string, number>> = {
  chains: 8_500,
  contract: 8_000,
  handlers: 8_150,
  money: 8_950,
  trade: 8_000,
}

describe('domain packages', () => {
  const linesOf = (file: string) => read(file).trimEnd().split('\n').length

  test.each(Object.entries(MODULES))(
    'packages/%s: every module is in the order and has an index',
    (name, ordered) => {
      const folders = readdirSync(`packages/${name}/src`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== 'ports')
        .map((entry) => entry.name)
      expect(folders.toSorted()).toEqual([...ordered].toSorted())
      expect(ordered.filter((module) => !existsSync(`packages/${name}/src/${module}/index.ts`))).toEqual([])
    },
  )

  test('no package has more than 6,000 lines, or the number that is listed for it', () => {
    const lines = new Map<string, number>()
    const written = PRODUCTION.filter((path) => path.startsWith('packages/') && !isGenerated(read(path)))
    for (const file of written) {
      const name = file.split('/')[1] ?? ''
      lines.set(name, (lines.get(name) ?? 0) + linesOf(file))
    }
    expect([...lines].filter(([name, count]) => count > (LARGER[name] ?? 6_000))).toEqual([])
  })
})

test('no folder of a domain module has more than 25 files', () => {
  const domain = new RegExp(`^packages/(${Object.keys(MODULES).join('|')})/`)
  expect(crowdedFolders(PRODUCTION.filter((file) => domain.test(file)))).toEqual([])
})

test('every file exports by name, leaves the environment alone, and is short', () => {
  expect(FILES.flatMap((file) => brokenFileRules(file, read(file)))).toEqual(STILL_TOO_LONG)
})

test('no file names the machine or the workplace where it was written', () => {
  const kept = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  const files = kept.toString().split('\0').filter(existsSync)
  expect(files).toContain('package.json')
  const texts = files.map((file) => ({ file, text: read(file) })).filter(({ text }) => !text.includes('\0'))
  const stray = texts.flatMap(({ file, text }) =>
    [file, text].flatMap(workplaceWords).map((word) => `${file}: ${word}`),
  )
  expect(stray).toEqual([])
})
