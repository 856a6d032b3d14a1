import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { markersIn, nodesIn, parse, removeFix } from './remove-fix.ts'
import { REMOVED_FIXES } from './removed-fixes.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The sources that have a marker. */
const SOURCES = globSync('{apps,packages}/*/src/**/*.ts', { cwd: ROOT })
  .map((file) => readFileSync(`${ROOT}/${file}`, 'utf8'))
  .filter((code) => code.includes('// fix: '))

/** The names in the source, without those after a dot. */
function namesIn(code: string): Set<string> {
  const nodes = [...nodesIn(parse(code).program)]
  const isNamed = (node: object): node is { name: string } => 'name' in node && typeof node.name === 'string'
  const afterDot = new Set(
    nodes.map((node) => ('property' in node && 'computed' in node && !node.computed ? node.property : null)),
  )
  return new Set(
    nodes.filter((node) => !afterDot.has(node)).flatMap((node) => (isNamed(node) ? node.name : [])),
  )
}

test('every removed fix is marked once in the sources, and every marker has its entry', () => {
  const marked = SOURCES.flatMap(markersIn).map(({ name }) => name)
  expect(marked.toSorted()).toEqual(REMOVED_FIXES.map(({ marker }) => marker).toSorted())
})

test.each(REMOVED_FIXES)('$finding: the source without it parses, and has no name that it lacks', (fix) => {
  const code = SOURCES.find((one) => one.includes(`// fix: ${fix.marker}\n`)) ?? ''
  const without = removeFix(code, fix)
  expect(without).not.toBe(code)
  expect([...namesIn(without).difference(namesIn(code))]).toEqual([])
})

describe('removeFix', () => {
  const fix = (code: string, to?: string) =>
    removeFix(code, { marker: 'it', ...(to !== undefined && { to }) }).replace(/\/\/ fix: \S+\s+/g, '')

  test.each([
    ['an if', '// fix: it\nif (a) b()\nc()', ';\nc()'],
    ['a call', '// fix: it\nawait a()\nc()', ';\nc()'],
    [
      'a return in an if',
      'const f = () => {\n  if (a)\n    // fix: it\n    return b\n}',
      'const f = () => {\n  if (a)\n    ;\n}',
    ],
    ['a property', 'a({\n  // fix: it\n  b: 1,\n  c\n})', 'a({\n  c\n})'],
    ['an element', 'a = [\n  // fix: it\n  b(),\n  c\n]', 'a = [\n  c\n]'],
    ['below another marker', '// fix: it\n// fix: other\nif (a) b()', ';'],
  ])('deletes %s', (_, code, without) => {
    expect(fix(code)).toBe(without)
  })

  test.each([
    ['the condition of an if', '// fix: it\nif (a) b()', 'if ((x)) b()'],
    ['what is returned', 'function f() {\n  // fix: it\n  return a\n}', 'function f() {\n  return (x)\n}'],
    ['what is thrown', '// fix: it\nthrow a', 'throw (x)'],
    ['the value of a constant', '// fix: it\nexport const a: number = b', 'export const a: number = (x)'],
    ['the result of an arrow function', '// fix: it\nconst a = () => b', 'const a = () => (x)'],
    ['the statements of a function', '// fix: it\nfunction a() {\n  b()\n}', 'function a() { x }'],
    ['the value of a property', 'a = {\n  // fix: it\n  b: c,\n}', 'a = {\n  b: (x),\n}'],
    ['an element', 'a = [\n  // fix: it\n  b(),\n]', 'a = [\n  (x),\n]'],
    ['a call after a line that could call it', 'const a = b\n// fix: it\nc()', 'const a = b\n;(x)'],
    ['a call after an if', 'if (a)\n  // fix: it\n  b()', 'if (a)\n  (x)'],
  ])('replaces %s', (_, code, without) => {
    expect(fix(code, 'x')).toBe(without)
  })

  test('leaves a source without the marker as it is', () => {
    expect(fix('// fix: other\nif (a) b()')).toBe('if (a) b()')
  })
})
