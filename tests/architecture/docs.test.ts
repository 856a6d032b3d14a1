import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { anchorOf } from '../../packages/http/src/pages/markdown.ts'

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

/** `code: 'x'` within the arguments of each `new ApiError(…)`. */
function codesIn(source: string): string[] {
  return source
    .split('new ApiError(')
    .slice(1)
    .flatMap((rest) => {
      const call = rest.slice(0, endOfCall(rest))
      const [, code] = /\bcode: '([a-z0-9_]+)'/.exec(call) ?? []
      return code === undefined ? [] : [code]
    })
}

function endOfCall(rest: string): number {
  let depth = 1
  for (let index = 0; index < rest.length; index++) {
    if (rest[index] === '(') depth++
    else if (rest[index] === ')' && --depth === 0) return index
  }
  return rest.length
}

const sourcesIn = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .map(read)

const unlistedIn = (page: string, codes: Iterable<string>): string[] => {
  const listed = read(page)
  return [...new Set(codes)].filter((code) => !listed.includes(`\`${code}\``))
}

const ERRORS_PAGE = 'docs/contract/errors.md'

test('docs: errors.md lists the code of every ApiError', () => {
  const codes = sourcesIn('packages/*/src/**/*.ts').flatMap(codesIn)
  expect(new Set(codes).size).toBeGreaterThan(50)
  expect(unlistedIn(ERRORS_PAGE, codes)).toEqual([])
})

test('docs: errors.md lists the status and code of every error that Node finds before a request is read', () => {
  const table = read('packages/http/src/client-error.ts').matchAll(
    /'(\d{3}) [^']+',\s*'[^']+',\s*'([a-z_]+)'/g,
  )
  const responses = [...table].map(([, status, code]) => ({ status, code }))
  expect(responses).toContainEqual({ status: '431', code: 'headers_too_large' })
  const rows = read(ERRORS_PAGE).split('\n')
  const unlisted = responses.filter(
    ({ status, code }) => !rows.some((row) => row.includes(`| ${status} |`) && row.includes(`\`${code}\``)),
  )
  expect(unlisted).toEqual([])
})

test('docs: errors.md lists the code of every PaymentProblem', () => {
  const codes = sourcesIn('packages/trade/src/x402/**/*.ts')
    .filter((source) => /PaymentProblem|problem: /.test(source))
    .flatMap((source) => [...source.matchAll(/\{\s*code: (?:[\w.]+ \?\? )?'([a-z0-9_]+)'/g)])
    .map(([, code = '']) => code)
  expect(codes).toEqual(expect.arrayContaining(['payment_void', 'binding_required']))
  expect(unlistedIn(ERRORS_PAGE, codes)).toEqual([])
})

/** The codes in the first column of the tables; in the table by status they are in the second. */
const documentedCodes = (): string[] =>
  read(ERRORS_PAGE)
    .split('\n')
    .filter((row) => row.startsWith('|'))
    .map((row) => row.split('|').slice(1, 3))
    .map(([first = '', second = '']) => (/^ \d{3} $/.test(first) ? second : first))
    .flatMap((cell) => [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, code = '']) => code))

/** The codes that no text has as a literal. */
const missingIn = (text: string, codes: readonly string[]): string[] =>
  codes.filter((code) => !["'", '"', '`'].some((quote) => text.includes(quote + code + quote)))

test('docs: every code of errors.md is in the source', () => {
  const codes = documentedCodes()
  expect(codes.length).toBeGreaterThan(150)
  expect(missingIn(sourcesIn('packages/*/src/**/*.ts').join('\n'), codes)).toEqual([])
})

test('docs: a test asserts every code of errors.md', () => {
  const tests = globSync(['tests/**/*.ts', 'packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'], {
    cwd: ROOT,
  })
    .filter((path) => !path.endsWith('architecture/docs.test.ts'))
    .map(read)
  expect(missingIn(tests.join('\n'), documentedCodes())).toEqual([])
})
