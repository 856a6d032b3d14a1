import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileContracts, SOURCES } from '../../scripts/compile-contract.ts'

test.each(Object.keys(SOURCES))(
  'test contracts: the code of %s is that of its source',
  { timeout: 120_000 },
  (source) => {
    const { file, text } = compileContracts(source)
    expect(readFileSync(file, 'utf8'), 'run `npm run contracts`').toBe(text)
  },
)
