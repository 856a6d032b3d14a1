import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ERROR_CODES } from '@market/contract/error-codes'
import { errorsOf } from '@market/contract/operation-errors'
import { operationList } from '@market/contract/operations'
import { expect, test } from 'vitest'
import { anchorOf } from '../../packages/http/src/pages/markdown.ts'
import { writePurposes } from '../../scripts/write-purposes.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = ['*.md', 'docs/**/*.md', 'packages/*/README.md']

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const pages = (): string[] => globSync(PAGES, { cwd: ROOT })

const anchorsOf = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

function isBroken(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : join(dirname(page), file)
  if (!existsSync(join(ROOT, target))) return true
  return anchor !== undefined && !anchorsOf(target).includes(anchor)
}

test('docs: every relative link leads to a file and a heading that exist', () => {
  const broken = pages().flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => isBroken(page, link))
      .map((link) => `${page}: ${link}`),
  )
  expect(broken).toEqual([])
})

test('docs: every repository path in backticks exists', () => {
  const missing = pages().flatMap((page) =>
    [
      ...read(page).matchAll(
        /`((?:docs|packages|apps|tests|scripts|deploy|examples|tools)\/[\w./-]+\.(?:md|ts|sql|json|yaml))`/g,
      ),
    ]
      .map(([, path = '']) => path)
      .filter((path) => !path.includes('NNNN') && !existsSync(join(ROOT, path)))
      .map((path) => `${page}: ${path}`),
  )
  expect(missing).toEqual([])
})

test('docs: pages that the API serves to users cite no file of the tests', () => {
  const cited = globSync(['docs/guides/*.md', 'docs/contract/*.md'], { cwd: ROOT }).filter((page) =>
    /(?<![\w/])tests\/[\w-]+/.test(read(page)),
  )
  expect(cited).toEqual([])
})

const sourcesIn = (pattern: string, without: readonly string[] = []): string[] =>
  globSync(pattern, { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts') && !without.some((name) => path.endsWith(name)))
    .map(read)

const ERRORS_PAGE = 'docs/contract/errors.md'

/** The statuses of each code: of a table with a column of statuses, or as the section of payments says. */
function documentedStatuses(): Record<string, number[]> {
  const statuses: Record<string, number[]> = {}
  for (const section of read(ERRORS_PAGE).split(/^## /m).slice(1))
    for (const row of section
      .split('\n')
      .filter((line) => line.startsWith('| `') || /^\| \d{3} /.test(line))) {
      const [, first = '', second = '', third = ''] = row.split('|').map((cell) => cell.trim())
      const [codes, where] = /^\d{3}$/.test(first) ? [second, first] : [first, second]
      const ofRow = section.startsWith('Payments') ? paymentStatuses(where) : numbersIn(where)
      expect(ofRow, `${row} ${third}`).not.toEqual([])
      for (const code of codesIn(codes))
        statuses[code] = [...new Set([...(statuses[code] ?? []), ...ofRow])].sort((a, b) => a - b)
    }
  return statuses
}

const numbersIn = (text: string): number[] => [...text.matchAll(/\b\d{3}\b/g)].map(([one]) => Number(one))
const codesIn = (cell: string): string[] => [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, code = '']) => code)

/** 400 as `code` and 402 as `error`, unless the row begins with others. */
function paymentStatuses(meaning: string): number[] {
  if (meaning.startsWith('only 402')) return [402]
  const named = [...meaning.matchAll(/(?:^|; )(\d{3}):/g)].map(([, status]) => Number(status))
  return named.length > 0 ? named : [400, 402]
}

test('docs: errors.md lists every code with exactly its statuses', () => {
  const declared = Object.entries(ERROR_CODES).map(([code, of]) => [code, [...of].sort((a, b) => a - b)])
  expect(documentedStatuses()).toEqual(Object.fromEntries(declared))
})

test('docs: errors.md describes no code in two sections', () => {
  const rows = read(ERRORS_PAGE)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((row) => codesIn(row.split('|')[1] ?? ''))
  expect(rows.filter((code, index) => rows.indexOf(code) !== index)).toEqual([])
})

/** The codes that no text has as a literal. */
const missingIn = (text: string, codes: readonly string[]): string[] =>
  codes.filter((code) => !["'", '"', '`'].some((quote) => text.includes(quote + code + quote)))

test('docs: every code of errors.md is in the source', () => {
  const sources = sourcesIn('packages/*/src/**/*.ts', ['error-codes.ts'])
  expect(missingIn(sources.join('\n'), Object.keys(ERROR_CODES))).toEqual([])
})

/** Codes of requests that reach no operation, of MCP sessions and of the server of files. */
const OF_NO_OPERATION = ['no_such_route', 'gone', 'headers_too_large', 'file_not_found', 'file_link_expired']
/** The code of a status where a more specific one exists everywhere. */
const OF_STATUS_ONLY = ['unauthenticated', 'forbidden', 'unprocessable', 'freeze_payouts']

const listedCodes = (): Set<string> =>
  new Set([
    ...operationList.flatMap((operation) => [...errorsOf(operation).values()].flat()),
    // The stream of events is described beside the operations.
    'too_many_streams',
  ])

test('docs: an operation lists every code of errors.md', () => {
  const listed = listedCodes()
  const unlisted = Object.keys(ERROR_CODES).filter((code) => !listed.has(code))
  expect(unlisted.filter((code) => ![...OF_NO_OPERATION, ...OF_STATUS_ONLY].includes(code))).toEqual([])
})

test('docs: a test asserts every code of errors.md', () => {
  const tests = globSync(['tests/**/*.ts', 'packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'], {
    cwd: ROOT,
  })
    .filter((path) => !path.endsWith('architecture/docs.test.ts'))
    .map(read)
  expect(missingIn(tests.join('\n'), Object.keys(ERROR_CODES))).toEqual([])
})

test('docs: identity.md lists every purpose that a wallet signs; run `npm run docs:purposes` when it does not', () => {
  const page = read('docs/contract/identity.md')
  expect(page).toContain('<!-- purposes -->')
  expect(writePurposes(page)).toBe(page)
})
