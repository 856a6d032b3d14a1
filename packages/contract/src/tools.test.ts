import { describe, expect, test } from 'vitest'
import { toolList, tools } from './tools.ts'

const asText = (): string => `${JSON.stringify(toolList(), null, 2)}\n`

describe('the tool list', () => {
  test('is what clients were promised; a wanted change is written with `vitest -u`', async () => {
    await expect(asText()).toMatchFileSnapshot('./tools.snap.json')
  })

  test('is the same text every time it is asked for', () => {
    expect(asText()).toBe(asText())
  })

  test('has one tool of a name', () => {
    expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length)
  })

  test.each(toolList())('$name takes and gives plain objects that need no other document', (tool) => {
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(tool.outputSchema).toMatchObject({ type: 'object' })
    expect(JSON.stringify(tool)).not.toMatch(/"\$(ref|defs|schema)"/)
  })

  test.each(tools)('$name says truly whether it only reads', (tool) => {
    expect(tool.annotations.readOnlyHint).toBe(tool.operation.method === 'GET')
  })

  test.each(tools)('$name gives its input to the operation as it came', (tool) => {
    const input = { any: 'thing' }
    expect(tool.plan(input)).toEqual(input)
  })
})
