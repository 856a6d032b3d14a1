import type { Operation } from '@market/contract/define'
import { ApiError } from '@market/kernel/api-error'
import type { z } from 'zod'

const MOST_DETAILS = 20

export const parse = (operation: Operation, input: Readonly<Record<string, unknown>>) =>
  parseAs(operation.input, input)

/** The same for what is asked at a door that is no operation. */
export function parseAs<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.slice(0, MOST_DETAILS).map(detailOf)
  const first = details[0]
  const sentence = first === undefined ? 'The request is not valid' : `${first.path} ${first.message}`.trim()
  throw new ApiError('invalid', sentence, { code: 'invalid_input', details })
}

/** Names the field in the caller's own words; the value itself is never repeated. */
function detailOf(issue: z.core.$ZodIssue): { path: string; message: string } {
  const path = issue.path.map(String).join('.')
  switch (issue.code) {
    case 'unrecognized_keys':
      return {
        path,
        message: `has fields this call does not know: ${issue.keys.slice(0, 5).map(brief).join(', ')}`,
      }
    case 'invalid_type':
      return {
        path,
        message: issue.input === undefined ? 'is required' : `must be ${typeInWords(issue.expected)}`,
      }
    default:
      return { path, message: issue.message.charAt(0).toLowerCase() + issue.message.slice(1) }
  }
}

const brief = (key: string): string => JSON.stringify(key.isWellFormed() ? key.slice(0, 40) : 'malformed')

const typeInWords = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)
