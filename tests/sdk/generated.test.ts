import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { outdatedFiles } from '../../packages/sdk/src/commands/write-types.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('the generated files of the SDK are those of the contract; run `npm run sdk:types` when they are not', () => {
  expect(outdatedFiles()).toEqual([])
})

test.each(['seller', 'buyer'])('packages/sdk/README.md shows examples/%s.ts as it is', (name) => {
  expect(read('packages/sdk/README.md')).toContain(`\`\`\`ts\n${read(`examples/${name}.ts`)}\`\`\`\n`)
})
