import { ApiError } from './api-error.ts'

/** Rejects what is too large as a whole, although each of its fields is within its own limit. */
export function rejectLarger(most: number, what: string, fields: Readonly<Record<string, unknown>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(fields))
  if (bytes <= most) return
  throw new ApiError(
    'invalid',
    `The fields of the ${what} are ${bytes} bytes of JSON, and at most ${most} are allowed. Shorten its longest fields.`,
  )
}
