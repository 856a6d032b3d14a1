import type { Operation } from '@market/contract/define'
import { maxBytes } from '@market/contract/define'
import { operationList, operations } from '@market/contract/operations'
import { tools } from '@market/contract/tools'
import { resultOf } from '@market/contract/tools/results'
import { envelope } from '@market/handlers/envelope'
import { exampleOf } from '@market/http/reference/examples'
import { RESULT_BUDGET } from '@market/mcp/result-budget'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inputSchemaOf, type Schema } from '../support/schema-arbitraries.ts'
import { LARGEST, LARGEST_PAGE, LARGEST_RESULT } from './size-bounds.ts'

/** What hostile data can make of every response, from the contract. `hostile-sizes.test.ts` tries it. */

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const isPublic = ({ callers }: Operation): boolean => !callers.every((kind) => kind.startsWith('admin'))
const isPage = ({ output, beside }: Operation): boolean =>
  output instanceof z.ZodArray && 'next_cursor' in (beside?.shape ?? {})

const pages = operationList.filter(isPage)
const others = operationList.filter((operation) => isPublic(operation) && !isPage(operation))

/** A quantifier without an upper bound, outside of character classes. */
const isEndless = (pattern: string): boolean =>
  /(?<!\\)[*+]|\{\d+,\}/.test(pattern.replace(/\[(\\.|[^\]])*\]/g, 'x'))

function endlessIn(schema: Schema, path: string): string[] {
  const inside = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      endlessIn(field, `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : endlessIn(schema.items, `${path}[]`)),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((branch) => endlessIn(branch, path)),
  ]
  const isText = schema.type === 'string' && schema.enum === undefined && schema.const === undefined
  const isLimited =
    schema.maxLength !== undefined || (schema.pattern !== undefined && !isEndless(schema.pattern))
  if (isText && !isLimited && schema.format !== 'date-time') inside.push(path)
  if (schema.type === 'array' && schema.maxItems === undefined) inside.push(`${path}[]`)
  return inside
}

test('inputs: every text and every list has a largest length (asvs V2.1)', () => {
  const endless = operationList.flatMap((operation) => endlessIn(inputSchemaOf(operation), operation.id))
  expect(endless).toEqual([])
})

/** Lists and records, which are as long as somebody makes them. */
function growsIn(schema: Schema): boolean {
  const { type, additionalProperties } = schema
  if (type === 'array' || (type === 'object' && typeof additionalProperties === 'object')) return true
  const parts = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return parts.some(growsIn)
}

describe('responses without next_cursor', () => {
  test.each(others)('$id: its largest size is stated when it contains a list or a record', (operation) => {
    const output = z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as Schema
    const beside = operation.beside && (z.toJSONSchema(operation.beside, { io: 'output' }) as Schema)
    if (growsIn(output) || (beside && growsIn(beside))) expect(LARGEST).toHaveProperty(operation.id)
  })

  test('no size is stated for an operation that does not exist or is a page', () => {
    const ids = new Set(others.map(({ id }) => id))
    expect(Object.keys(LARGEST).filter((id) => !ids.has(id))).toEqual([])
  })

  test('a list without next_cursor is not larger than a page', () => {
    const lists = others.filter(({ output }) => output instanceof z.ZodArray).map(({ id }) => id)
    expect(lists).toContain('agentLeaderboard')
    for (const id of lists) expect([id, LARGEST[id]]).toEqual([id, expect.any(Number)])
    for (const id of lists) expect(LARGEST[id]).toBeLessThanOrEqual(LARGEST_PAGE)
  })
})

/** Every text of the value is as long as `long`, where the schema allows it. */
function inflated(schema: z.ZodType, value: unknown, long: string): unknown {
  let grown = value
  const visit = (part: unknown, put: (inner: unknown) => unknown): void => {
    if (typeof part === 'string') {
      const candidate = put(long)
      if (schema.safeParse(candidate).success) grown = candidate
      return
    }
    if (typeof part !== 'object' || part === null) return
    for (const key of Object.keys(part))
      visit((part as Record<string, unknown>)[key], (inner) =>
        put(Array.isArray(part) ? part.with(Number(key), inner) : { ...currentAt(part), [key]: inner }),
      )
  }
  const currentAt = (part: object) => (part === value ? (grown as object) : part)
  visit(value, (inner) => inner)
  return grown
}

const HOSTILE = [
  ['four bytes', '🎨'.repeat(2_000)],
  ['less-than signs', '<'.repeat(8_000)],
  ['escapes', '"\\\n'.repeat(2_000)],
] as const

const besideOf = (operation: Operation) => {
  const { next_cursor: _, ...rest } = exampleOf(operation.beside ?? z.object({})) as Record<string, unknown>
  return rest
}

const presented = (operation: Operation, item: unknown, count: number) => ({
  ...besideOf(operation),
  data: Array.from({ length: count }, () => item),
  next_cursor: (shown: number) => String(shown),
})

const elementOf = ({ output }: Operation) => (output as z.ZodArray<z.ZodType>).element

describe.each(pages)('$id', (operation) => {
  const element = elementOf(operation)
  const example = exampleOf(element)

  test.each(HOSTILE)('a page with long texts of %s ends at 1 MB with its next_cursor', (_, long) => {
    const item = inflated(element, example, long)
    const count = Math.ceil((2 * LARGEST_PAGE) / bytesOf(item))
    const { json = '', body } = envelope(operation, presented(operation, item, count))
    const { data, next_cursor } = body as { data: unknown[]; next_cursor: string }
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(LARGEST_PAGE)
    expect(Buffer.byteLength(json)).toBeGreaterThan(LARGEST_PAGE * 0.8)
    expect(JSON.parse(String(json))).toEqual(body)
    expect(data.length).toBeLessThan(count)
    expect(next_cursor).toBe(String(data.length))
  })

  test('an item that is larger than a page is returned alone', () => {
    const item = inflated(element, example, 'x'.repeat(LARGEST_PAGE))
    const { body } = envelope(operation, presented(operation, item, 2))
    expect((body as { data: unknown[] }).data).toHaveLength(1)
  })
})

const served = tools.filter((tool) => 'operation' in tool)
const listTools = served.filter(({ operation }) => isPage(operation))

describe.each(listTools)('$name', (tool) => {
  test('takes a cursor', () => {
    expect(tool.input.shape).toHaveProperty('cursor')
    expect(tool.inputOf({ cursor: 'c' })).toMatchObject({ cursor: 'c' })
  })

  test.each(HOSTILE)('its result with long texts of %s is at most 64 KB', (_, long) => {
    const { operation } = tool
    const element = elementOf(operation)
    const item = inflated(element, exampleOf(element), long.slice(0, 100))
    const page = presented(operation, item, 200)
    const { status, body } = envelope(operation, page, RESULT_BUDGET)
    const size = bytesOf(resultOf(tool, { status, body, headers: {} }))
    expect(size).toBeLessThanOrEqual(LARGEST_RESULT)
    expect((body as { data: unknown[] }).data.length).toBeGreaterThan(1)
  })
})

test('every tool whose result is a list is a page, except for markets and positions of Earn', () => {
  const lists = served.filter(({ operation }) => operation.output instanceof z.ZodArray)
  const endless = lists.filter((tool) => !listTools.includes(tool)).map(({ name }) => name)
  expect(endless).toEqual(['market_earn_positions'])
})

test('what appears in lists of others has a largest size', () => {
  expect([...maxBytes.keys()].toSorted()).toEqual([
    'ActivityItem',
    'Agent',
    'Bounty',
    'BountySummary',
    'FoundService',
    'Leader',
    'PayableService',
    'PortfolioEntry',
    'Review',
    'Service',
    'ServiceSummary',
    'TrendingService',
  ])
  expect(operations.listBounties.output.element).toBeDefined()
})
