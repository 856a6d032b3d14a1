import { toolList } from '@market/contract/tools'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { encode } from 'gpt-tokenizer'
import { expect, test } from 'vitest'

test('the tools cost a language model at most 6,000 tokens: names, descriptions and inputs', () => {
  const shown = toolList().map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  expect(encode(JSON.stringify(shown)).length).toBeLessThanOrEqual(6_000)
})

test('the inputs and outputs of the tools are valid schemas of JSON Schema 2020-12', () => {
  const schemas = toolList().flatMap((tool) => [
    [`${tool.name}, input`, tool.inputSchema] as const,
    ...('outputSchema' in tool ? [[`${tool.name}, output`, tool.outputSchema] as const] : []),
  ])
  expect(schemas).toHaveLength(39 + 36)
  const ajv = new Ajv2020({ strict: false })
  for (const [name, schema] of schemas)
    expect([name, ajv.validateSchema(schema), ajv.errorsText()]).toEqual([name, true, 'No errors'])
})
