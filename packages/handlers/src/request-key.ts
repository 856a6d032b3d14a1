import { createHash } from 'node:crypto'
import { isWrite } from '@market/contract/define'
import { type Actor, nameOf } from '@market/core/context'
import type { RequestKey } from '@market/core/idempotency'
import { ApiError } from '@market/kernel/api-error'
import type { Call } from './call.ts'

const KEY = /^[\x20-\x7e]{1,128}$/
/** Nothing else protects the stored response of an anonymous caller, so the key must be hard to guess. A UUID has 36. */
// fix: anonymous-key-length
const MIN_ANONYMOUS_LENGTH = 32

/** The Idempotency-Key of a write, by one rule for every operation; undefined without one. */
export function readIdempotencyKey({ operation, idempotencyKey }: Call): string | undefined {
  if (idempotencyKey === undefined || !isWrite(operation)) return undefined
  if (KEY.test(idempotencyKey)) return idempotencyKey
  throw new ApiError('invalid', 'Idempotency-Key must be 1 to 128 printable ASCII characters', {
    code: 'bad_idempotency_key',
  })
}

/**
 * The key of a purchase. A caller's own key is stored as a hash with the caller's name, so that it returns the purchase to
 * nobody else and may be short.
 */
export function purchaseKey(key: string | undefined, actor: Actor): string | undefined {
  if (actor.kind === 'anonymous') return requireLongKey(key)
  if (key === undefined) return undefined
  return createHash('sha256')
    .update(canonical([nameOf(actor), key]))
    .digest('hex')
}

/** The key of a caller without an account: it returns the response to everybody who sends it, from any address. */
function requireLongKey(key: string | undefined): string | undefined {
  if (key === undefined || key.length >= MIN_ANONYMOUS_LENGTH) return key
  throw new ApiError(
    'invalid',
    `Idempotency-Key has ${key.length} characters, but without credentials at least ${MIN_ANONYMOUS_LENGTH} are required. Send a random one, such as a UUID.`,
    { code: 'bad_idempotency_key' },
  )
}

/** Under which a response is stored: keys are scoped by caller. All anonymous callers share one scope. */
export function requestKey(call: Call, actor: Actor): RequestKey | undefined {
  const isAnonymous = actor.kind === 'anonymous'
  const key = isAnonymous ? requireLongKey(readIdempotencyKey(call)) : readIdempotencyKey(call)
  if (key === undefined) return undefined
  return {
    scope: isAnonymous ? 'anonymous' : nameOf(actor),
    key,
    operation: call.operation.id,
    fingerprint: createHash('sha256').update(canonical(call.input)).digest(),
  }
}

/** The same for a repeated request, whatever the database knows of it and however it is signed. */
export const digestOf = ({ scope, key, operation }: RequestKey): string =>
  createHash('sha256')
    .update(canonical([scope, key, operation]))
    .digest('hex')

/** The same fields in another order are the same request. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value !== null && typeof value === 'object') {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`
  }
  return JSON.stringify(value) ?? 'null'
}
