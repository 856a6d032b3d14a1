import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { afterStart, blocksOf, isRun, readPage } from './guide-blocks.ts'
import { differences, jsonIn, parseExample } from './match-response.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GUIDES = globSync('docs/guides/*.md', { cwd: ROOT }).filter((path) => basename(path) !== 'README.md')
const MAX_LINES = 180

test.each(GUIDES)('%s: has one title, starts the marketplace and runs blocks of known kinds only', (path) => {
  const page = readPage(path)
  const prose = page.replaceAll(/^```.*?^```$/gms, '')
  expect(prose.match(/^# .+$/gm)).toHaveLength(1)
  expect(afterStart(blocksOf(page, path), path).filter(isRun).length).toBeGreaterThan(1)
  expect(page.split('\n').length).toBeLessThan(MAX_LINES)
})

test.each(['docs/guides/README.md', 'README.md'])('%s: lists every guide', (index) => {
  const page = readPage(index)
  expect(GUIDES.filter((path) => !page.includes(`${basename(path)})`))).toEqual([])
})

test.each([
  ['```bash\nls\n```\n', 'not "bash"'],
  ['1. First\n\n   ```sh\n   ls\n   ```\n', 'must not be indented'],
  ['```sh\nls\n', 'has no end'],
  ['Like this:\n\n```js\nlet a\n```\n', 'Save as'],
])('guide blocks: %j is rejected', (page, problem) => {
  expect(() => blocksOf(page, 'page.md')).toThrow(new RegExp(problem, 'i'))
})

test('guide blocks: a page whose first block does not start the marketplace is rejected', () => {
  expect(() => afterStart(blocksOf('```sh\nls\n```\n', 'page.md'), 'page.md')).toThrow('npm run dev')
})

test('responses: … stands for a value, a part of a text, or fields that are left out', () => {
  const example = parseExample(
    '{ "id": "ord_…", "took_ms": …, "list": [ … ], "items": [ { "a": 1, … } ], … }',
  )
  const [response] = jsonIn(
    'sent\n{"id":"ord_1","took_ms":3,"list":[1],"items":[{"a":2},{"a":1,"b":2}],"more":true}\n',
  )
  expect(differences(example, response)).toEqual([])
})

test.each([
  ['{ "status": "paid" }', '{"status":"quoted"}', 'response.status'],
  ['{ "status": … }', '{}', 'response.status'],
  ['{ "id": "ord_…" }', '{"id":"svc_1"}', 'response.id'],
  ['{ "list": [ { "a": 1 } ] }', '{"list":[{"a":2}]}', 'response.list[0].a'],
  ['{ "gone": null }', '{"gone":false}', 'response.gone'],
])('responses: %s differs from %s', (example, response, where) => {
  const [said] = differences(parseExample(example), JSON.parse(response))
  expect(said).toContain(where)
})
