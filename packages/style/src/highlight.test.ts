import { expect, test } from 'vitest'
import { highlight, type Language, languageOf } from './highlight.ts'

const PROGRAMS: readonly (readonly [Language, string])[] = [
  ['shell', `# a comment\ncurl "$URL" -d '{"a": 1}' \\\n  -H 'x: #no comment'`],
  ['typescript', "import { a } from 'b' // why\nconst text = `x y`"],
  ['python', 'import json # all\nprint("it\\"s", None)'],
  ['json', '{ "name": "value", "n": 1 }'],
]

test.each(PROGRAMS)('highlight: the parts of a program in %s are the program', (language, code) => {
  const parts = highlight(code, language)
  expect(parts.map(({ text }) => text).join('')).toBe(code)
  expect(new Set(parts.map(({ kind }) => kind)).size).toBeGreaterThan(1)
})

test('highlight: a sign of a comment inside of a string is no comment', () => {
  const parts = highlight(`echo 'x #y' # z`, 'shell')
  expect(parts.filter(({ kind }) => kind === 'comment')).toEqual([{ kind: 'comment', text: '# z' }])
})

test('highlight: languages have the names of Markdown', () => {
  expect([languageOf('sh'), languageOf('js'), languageOf('mermaid'), languageOf(undefined)]).toEqual([
    'shell',
    'typescript',
    undefined,
    undefined,
  ])
})
