import type { Operation } from '@market/contract/define'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { parseUsd, type Usdc } from '@market/kernel/money'
import { z } from 'zod'
import { closestName } from './closest-name.ts'

const MAX_DETAILS = 20
const MAX_UNKNOWN_FIELDS = 5
const MAX_NAME_LENGTH = 40

type Path = readonly PropertyKey[]

export const parse = (operation: Operation, input: Readonly<Record<string, unknown>>) =>
  parseAs(operation.input, input)

/** Parses the input of a route that is not an operation. */
export function parseAs<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.slice(0, MAX_DETAILS)
  const details = issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: messageOf(issue, schema, input),
  }))
  throw new ApiError('invalid', summaryOf(details[0], issues[0]), { code: 'invalid_input', details })
}

function summaryOf(
  detail: { readonly path: string; readonly message: string } | undefined,
  issue: z.core.$ZodIssue | undefined,
): string {
  if (detail === undefined) return 'The request is not valid'
  const separator = issue?.code === 'unrecognized_keys' ? ': ' : ' '
  return detail.path === '' ? detail.message : `${detail.path}${separator}${detail.message}`
}

/** Says what is wrong with a field. The value itself is never repeated. */
function messageOf(issue: z.core.$ZodIssue, schema: z.ZodType, input: unknown): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownFields(issue.keys.slice(0, MAX_UNKNOWN_FIELDS), fieldsAt(schema, issue.path))
    case 'invalid_type':
      return valueAt(input, issue.path) === undefined
        ? 'is required'
        : `must be ${withArticle(issue.expected)}`
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  }
}

function unknownFields(keys: readonly string[], fields: readonly string[]): string {
  const names = keys.map((key) => (key.isWellFormed() ? key.slice(0, MAX_NAME_LENGTH) : 'malformed'))
  const similar = new Set(names.map((name) => closestName(name, fields)).filter((name) => name !== undefined))
  const hint = similar.size === 0 ? '' : `. Did you mean ${[...similar].join(', ')}?`
  return `Unknown field${names.length === 1 ? '' : 's'}: ${names.map(quoted).join(', ')}${hint}`
}

/** Names that are not plain identifiers are quoted, so that they cannot be mistaken for text of the message. */
const quoted = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name))

/** Field names of the object at `path`; of a union, those of all its options. */
function fieldsAt(schema: unknown, path: Path): string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => fieldsAt(option, path))
  if (schema instanceof z.ZodPipe) return fieldsAt(schema.in, path)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return fieldsAt(schema.unwrap(), path)
  const [key, ...rest] = path
  if (schema instanceof z.ZodArray && key !== undefined) return fieldsAt(schema.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  return key === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(key)], rest)
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key]
  }
  return value
}

const withArticle = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** An amount that the contract has validated. */
export function moneyOf(text: string): Usdc {
  const money = parseUsd(text)
  assert(money !== undefined, `${text} is a valid amount`)
  return money
}
