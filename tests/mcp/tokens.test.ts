import { toolList } from '@market/contract/tools'
import { encode } from 'gpt-tokenizer'
import { expect, test } from 'vitest'

test('the tools cost a language model at most 6,000 tokens: names, descriptions and inputs', () => {
  const shown = toolList().map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  expect(encode(JSON.stringify(shown)).length).toBeLessThanOrEqual(6_000)
})
