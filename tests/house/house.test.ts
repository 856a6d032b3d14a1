import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { OWNERS, PLANNED, STAIRS, TEST } from '../../house.plan.ts'
import { readArrows, unreached } from './arrows.ts'
import { badManners, strayWords } from './manners.ts'
import { foreignWrites } from './writes.ts'

const FILES = globSync('{apps,packages}/*/src/**/*.ts')
const ROOMS = FILES.filter((file) => !new RegExp(TEST).test(file))
const MODULES = readdirSync('packages/market/src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'ports')
  .map((entry) => entry.name)

/** Files that were too long when the rule came; one that was cut leaves the list. */
const STILL_TOO_LONG = ['packages/platform/src/identity/oidc-identity.test.ts is longer than 300 lines']

const read = (file: string) => readFileSync(file, 'utf8')

describe('the arrows', () => {
  let arrows: Awaited<ReturnType<typeof readArrows>>
  beforeAll(async () => {
    arrows = await readArrows(process.cwd(), ['apps', 'packages', 'scripts', 'tests'])
  })

  test('every arrow in the house falls', () => {
    const wrong = arrows.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)
    expect(wrong).toEqual([])
  })

  test('every file is reached by a program, a command or a test', () => {
    expect(unreached(arrows)).toEqual([])
  })

  test('every file was really read, down to its imports', () => {
    expect(ROOMS.length).toBeGreaterThan(0)
    expect(arrows.summary.totalCruised).toBeGreaterThanOrEqual(ROOMS.length)
    const drawn = new Map(arrows.modules.map(({ source, dependencies }) => [source, dependencies.length]))
    const unread = FILES.filter((file) => {
      const imports = /^(?:import|export)\b[^'\n]*\bfrom '|^\} from '/m.test(read(file))
      return !drawn.has(file) || (imports && drawn.get(file) === 0)
    })
    expect(unread).toEqual([])
  })
})

describe('the tables', () => {
  const tables = [...read('packages/database/src/tables.ts').matchAll(/^ {2}(\w+): \{$/gm)].map(
    ([, name]) => name,
  )

  test('every table has one owner, and nothing is owned that is no table', () => {
    expect(tables.length).toBeGreaterThan(0)
    expect(Object.keys(OWNERS).toSorted()).toEqual(tables.toSorted())
  })

  test('every owner is a module of the market', () => {
    expect(Object.values(OWNERS).filter((owner) => !MODULES.includes(owner))).toEqual([])
  })

  test('a module writes only its own tables, and only in its store', () => {
    const writers = ROOMS.filter((file) => !file.startsWith('packages/testing/'))
    expect(writers.flatMap((file) => foreignWrites(file, read(file)))).toEqual([])
  })
})

describe('the stairs', () => {
  test('every module stands on the stairs once', () => {
    expect(MODULES.filter((name) => !STAIRS.includes(name))).toEqual([])
    expect(new Set(STAIRS).size).toBe(STAIRS.length)
  })

  test('every stair is a module or is planned, never both', () => {
    expect(STAIRS.filter((name) => MODULES.includes(name) === PLANNED.includes(name))).toEqual([])
    expect(PLANNED.filter((name) => !STAIRS.includes(name))).toEqual([])
  })

  test('every module has a door', () => {
    expect(MODULES.filter((name) => !existsSync(`packages/market/src/${name}/index.ts`))).toEqual([])
  })
})

test('every file exports by name, leaves the environment alone, and is short', () => {
  expect(FILES.flatMap((file) => badManners(file, read(file)))).toEqual(STILL_TOO_LONG)
})

test('no file speaks of the machine or the desk it was written on', () => {
  const kept = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  const files = kept.toString().split('\0').filter(existsSync)
  expect(files).toContain('package.json')
  const texts = files.map((file) => ({ file, text: read(file) })).filter(({ text }) => !text.includes('\0'))
  const stray = texts.flatMap(({ file, text }) =>
    [file, text].flatMap(strayWords).map((word) => `${file}: ${word}`),
  )
  expect(stray).toEqual([])
})
