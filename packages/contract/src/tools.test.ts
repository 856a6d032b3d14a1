import { describe, expect, test } from 'vitest'
import { toolList, tools } from './tools.ts'

const asText = (): string => `${JSON.stringify(toolList(), null, 2)}\n`

describe('toolList', () => {
  test('equals the snapshot; update it with `vitest -u`', async () => {
    await expect(asText()).toMatchFileSnapshot('./tools.snap.json')
  })

  test('is deterministic', () => {
    expect(asText()).toBe(asText())
  })

  test('has unique names', () => {
    expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length)
  })

  test.each(toolList())('$name: input and output are object schemas without references', (tool) => {
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(tool.outputSchema).toMatchObject({ type: 'object' })
    expect(JSON.stringify(tool)).not.toMatch(/"\$(ref|defs|schema)"/)
  })

  test.each(tools)('$name: readOnlyHint is true exactly for GET operations', (tool) => {
    expect(tool.annotations.readOnlyHint).toBe(tool.operation.method === 'GET')
  })

  test.each(tools)('$name: passes its input to the operation unchanged', (tool) => {
    const input = { any: 'value' }
    expect(tool.plan(input)).toEqual(input)
  })
})
