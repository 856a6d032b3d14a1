import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const sources = (patterns: readonly string[]) =>
  globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules/**'] }).map((path) => ({
    path,
    code: read(path),
  }))

const ROWS = read('docs/security/asvs.md')
  .split('\n')
  .flatMap((row) => {
    const [, id] = /^\| (V\d+\.\d+) \|/.exec(row) ?? []
    return id === undefined ? [] : [{ id, row }]
  })

/** The ids at the end of titles of tests. */
const tested = (): Set<string> =>
  new Set(
    sources(['tests/**/*.test.ts', 'packages/*/src/**/*.test.ts']).flatMap(({ code }) =>
      [...code.matchAll(/ \(asvs (V\d+\.\d+)\)['`]/g)].map(([, id = '']) => id),
    ),
  )

test('asvs.md: has rows of every chapter but V17, and each id once', () => {
  const ids = ROWS.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const chapters = new Set(ids.map((id) => Number(id.slice(1).split('.')[0])))
  expect([...chapters]).toEqual(Array.from({ length: 16 }, (_, at) => at + 1))
})

test('asvs.md: the title of a test has the id of each row, and every id in a title has a row', () => {
  expect([...tested()].toSorted()).toEqual(ROWS.map(({ id }) => id).toSorted())
})

/** Files that add routes to a server of Fastify. */
const ROUTES = /\b(?:app|scope|server)\.(?:route|get|post|put|patch|delete|all)(?:<\w+>)?\(/

test('asvs.md: a row names each file that serves routes', () => {
  // `dev` stands for the outside of the marketplace, and serves this machine only.
  const serving = sources(['packages/*/src/**/*.ts', 'apps/{api,web,worker}/src/**/*.ts'])
    .filter(({ path, code }) => !path.endsWith('.test.ts') && code.includes("'fastify'") && ROUTES.test(code))
    .map(({ path }) => path)
  expect(serving).toEqual(
    expect.arrayContaining([
      'packages/http/src/files-server.ts',
      'packages/mcp/src/mount.ts',
      'apps/web/src/server.ts',
    ]),
  )
  expect(serving.filter((path) => !ROWS.some(({ row }) => row.includes(`\`${path}\``)))).toEqual([])
})

test('sources: the only text in SQL that is no parameter is the direction of an order (asvs V1.1)', () => {
  const raw = sources(['{packages,apps}/*/src/**/*.ts']).flatMap(({ path, code }) =>
    path.includes('.test.ts') ? [] : [...code.matchAll(/\bsql\.raw\(([^)]*)\)/g)].map(([, text]) => text),
  )
  expect(new Set(raw)).toEqual(new Set(['direction']))
})
