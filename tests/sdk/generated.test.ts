import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url)
const read = (path: string) => readFileSync(urlOf(path), 'utf8')

test('the generated files of the SDK are those of the contract; run `npm run sdk:types` when they are not', async () => {
  // In a process, because Vitest orders the exports of modules in another way, and with them the operations.
  const command = fileURLToPath(urlOf('packages/sdk/src/commands/write-types.ts'))
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--check'])
  expect(JSON.parse(stdout)).toEqual([])
})

test.each(['seller', 'buyer'])('packages/sdk/README.md shows examples/%s.ts as it is', (name) => {
  expect(read('packages/sdk/README.md')).toContain(`\`\`\`ts\n${read(`examples/${name}.ts`)}\`\`\`\n`)
})

test('packages/sdk/README.md has a row for every error code in the source of the SDK', () => {
  const folder = fileURLToPath(urlOf('packages/sdk/src/'))
  const files = globSync('*.ts', { cwd: folder }).filter((file) => !file.endsWith('.test.ts'))
  const source = files.map((file) => read(`packages/sdk/src/${file}`)).join('\n')
  const codes = [...source.matchAll(/\bcode(?::| ===| !==|\b[^\n]*\?\?) '(\w+)'/g)].map(([, code]) => code)
  expect(codes).toContain('bad_response')
  const readme = read('packages/sdk/README.md')
  expect([...new Set(codes)].filter((code) => !readme.includes(`\n| \`${code}\` |`))).toEqual([])
})
