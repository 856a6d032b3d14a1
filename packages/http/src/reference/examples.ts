import type { Operation } from '@market/contract/define'
import { z } from 'zod'
import type { JsonSchema } from '../wire.ts'
import {
  BY_PATTERN,
  BY_SUFFIX,
  INPUTS,
  idOf,
  USUALLY_ABSENT,
  USUALLY_FALSE,
  USUALLY_NULL,
  VALUES,
} from './example-values.ts'

type Fields = Record<string, unknown>

/** Which optional fields an object gets, and the field that contains it. */
interface Place {
  readonly shows: 'required' | 'usual'
  readonly container: string
}

/** A valid input: the required fields, and optional ones that a reader needs. */
export function exampleInput(operation: Operation): Fields {
  const schema = z.toJSONSchema(operation.input, { io: 'input' }) as JsonSchema
  const more = (INPUTS as Readonly<Record<string, Fields | undefined>>)[operation.id]
  return { ...(exampleValue(schema, '', { shows: 'required', container: '' }) as Fields), ...more }
}

/** The body of a successful response. */
export function exampleBody(operation: Operation, output: z.ZodType = operation.output): unknown {
  const data = exampleOf(output, operation.group)
  if (operation.isBare === true) return data
  return { success: true, data, ...(operation.beside && (exampleOf(operation.beside) as object)) }
}

/** What the schema makes of an example, as a handler returns it. */
export const exampleOf = (schema: z.ZodType, container = ''): unknown =>
  schema.parse(
    exampleValue(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema, '', { shows: 'usual', container }),
  )

function exampleValue(schema: JsonSchema, name: string, place: Place): unknown {
  if ('const' in schema) return schema['const']
  const branches = schema.anyOf ?? schema.oneOf
  if (branches !== undefined) return branchOf(branches, name, place)
  if (Array.isArray(schema['enum'])) return enumOf(schema['enum'], name)
  const types = [schema.type].flat()
  if (types.includes('null') && USUALLY_NULL.has(name)) return null
  switch (types[0]) {
    case 'string':
      return name === 'id' ? idOf(place.container) : textOf(schema, name)
    case 'integer':
    case 'number':
      return numberOf(schema, name)
    case 'boolean':
      return schema['default'] ?? !USUALLY_FALSE.has(name)
    case 'array':
      return [exampleValue((schema['items'] ?? {}) as JsonSchema, name, place)]
    case 'object':
      return objectOf(schema, name === '' ? place : { ...place, container: name })
    case 'null':
      return null
    default:
      return named(name, () => true) ?? {}
  }
}

function branchOf(branches: readonly JsonSchema[], name: string, place: Place): unknown {
  const isNullable = branches.some(({ type }) => type === 'null')
  if (isNullable && USUALLY_NULL.has(name)) return null
  return exampleValue(branches.find(({ type }) => type !== 'null') ?? {}, name, place)
}

const enumOf = (values: readonly unknown[], name: string): unknown =>
  (VALUES[name] ?? []).find((value) => values.includes(value)) ?? values[0]

function objectOf(schema: JsonSchema, place: Place): Fields {
  const isShown = ([name]: readonly [string, JsonSchema]) =>
    schema.required?.includes(name) || (place.shows === 'usual' && !USUALLY_ABSENT.has(name))
  const fields = Object.entries(schema.properties ?? {}).filter(isShown)
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleValue(field, name, place)]))
}

/** A value that the tables have for the name. */
function named(name: string, isAllowed: (value: string | number) => boolean): string | number | undefined {
  const bySuffix = BY_SUFFIX.filter(([suffix]) => suffix.test(name)).flatMap(([, values]) => values)
  return [...(VALUES[name] ?? []), ...bySuffix].find(isAllowed)
}

function textOf(schema: JsonSchema, name: string): string {
  const pattern = new RegExp(String(schema['pattern'] ?? ''), 'u')
  const min = Number(schema['minLength'] ?? 0)
  const max = Number(schema['maxLength'] ?? Number.POSITIVE_INFINITY)
  const isAllowed = (value: string | number): value is string =>
    typeof value === 'string' && pattern.test(value) && value.length >= min && value.length <= max
  const found = named(name, isAllowed) ?? (schema['pattern'] && BY_PATTERN.find(isAllowed))
  return String(found ?? schema['default'] ?? name.replaceAll('_', ' '))
}

function numberOf(schema: JsonSchema, name: string): number {
  const min = Number(schema['minimum'] ?? 0)
  const found = named(name, (value) => typeof value === 'number' && value >= min)
  return Number(found ?? schema['default'] ?? Math.max(1, min))
}
