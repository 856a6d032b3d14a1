import { idempotencyKeyOf } from '@market/contract/tools/call'
import type { Call } from '@market/handlers/call'
import { parseAs } from '@market/handlers/parse'
import { ApiError } from '@market/kernel/api-error'
import type { z } from 'zod'

type Fields = Readonly<Record<string, unknown>>

/** What every call of a tool has: its Idempotency-Key, and the error of arguments that the tool does not accept. */
export function callFields(
  schema: z.ZodType,
  given: Fields,
  meta: Fields,
): Pick<Call, 'idempotencyKey' | 'rejected'> {
  const idempotencyKey = idempotencyKeyOf(meta)
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...rejectionOf(schema, given),
  }
}

/** The call counts against its limit, and then fails with the error. */
function rejectionOf(schema: z.ZodType, given: Fields): Pick<Call, 'rejected'> {
  try {
    parseAs(schema, given)
    return {}
  } catch (error) {
    if (error instanceof ApiError) return { rejected: error }
    throw error
  }
}
