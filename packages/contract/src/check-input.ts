import type { z } from 'zod'
import { closestName } from './closest-name.ts'
import { describeLimits, fieldsAt } from './describe-limits.ts'

const MAX_DETAILS = 20
const MAX_UNKNOWN_FIELDS = 5
const MAX_NAME_LENGTH = 40

type Path = readonly PropertyKey[]

/** What is wrong with an input: the first problem as a sentence, and each problem with its path. */
interface InvalidInput {
  readonly message: string
  readonly details: readonly { readonly path: string; readonly message: string }[]
}

/** Parses an input. The messages are those of the API, so a client can check an input before it sends it. */
export function checkInput<T>(schema: z.ZodType<T>, input: unknown): { data: T } | { invalid: InvalidInput } {
  const parsed = schema.safeParse(input)
  if (parsed.success) return { data: parsed.data }
  const issues = parsed.error.issues.slice(0, MAX_DETAILS)
  const details = issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: messageOf(issue, schema, input),
  }))
  return { invalid: { message: summaryOf(details[0], issues[0]), details } }
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
    case 'invalid_value': {
      const limits = describeLimits(schema, issue.path)
      // fix: wrong-type-is-not-missing
      if (valueAt(input, issue.path) === undefined)
        // fix: missing-field-limits
        return limits === undefined ? 'is required' : `is required and ${limits}`
      if (issue.code === 'invalid_type') return `must be ${withArticle(issue.expected)}`
      return limits ?? lowerCaseFirst(issue.message)
    }
    case 'too_small':
    case 'too_big':
      // A limit with a message of its own says more than its numbers.
      return isDefaultMessage(issue)
        ? (describeLimits(schema, issue.path) ?? lowerCaseFirst(issue.message))
        : issue.message
    default:
      return lowerCaseFirst(issue.message)
  }
}

const isDefaultMessage = ({ message }: z.core.$ZodIssue): boolean => /^Too (small|big)/.test(message)

const lowerCaseFirst = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)

function unknownFields(keys: readonly string[], fields: readonly string[]): string {
  const names = keys.map((key) => (key.isWellFormed() ? key.slice(0, MAX_NAME_LENGTH) : 'malformed'))
  const similar = new Set(names.map((name) => closestName(name, fields)).filter((name) => name !== undefined))
  const hint = similar.size === 0 ? '' : `. Did you mean ${[...similar].join(', ')}?`
  return `Unknown field${names.length === 1 ? '' : 's'}: ${names.map(quoted).join(', ')}${hint}`
}

/** Names that are not plain identifiers are quoted, so that they cannot be mistaken for text of the message. */
const quoted = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name))

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key]
  }
  return value
}

const withArticle = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)
