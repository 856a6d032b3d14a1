import { expect, test } from 'vitest'
import { invalid, rejected } from './rejected.ts'
import { type Subject, send } from './valid-request.ts'

const LIMIT_BYTES = 256 * 1024

const objectOf = (body: unknown): object => (typeof body === 'object' && body !== null ? body : {})

/** Every write rejects these bodies, whatever its fields are. */
export function rejectsBadBodies(subject: Subject): void {
  const { good } = subject
  rejectsUnreadableBodies(subject)

  test('400: a body that is not an object, or has an unknown field', async () => {
    const call = await good()
    for (const body of ['[]', '"text"', '7', 'true']) {
      const reply = await send(subject, { ...call, body })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.status).toBeLessThanOrEqual(401)
    }
    const surplus = await send(subject, { ...call, body: { ...objectOf(call.body), surplus: 1 } })
    invalid(surplus, '')
    expect(surplus.body.details?.[0]?.message).toContain('Unknown field: surplus')
  })

  test('400: an Idempotency-Key that is too long or not printable', async () => {
    const call = await good()
    for (const key of ['k'.repeat(129), 'caf\u00e9']) {
      rejected(await send(subject, call, { key }), 400, 'bad_idempotency_key')
    }
  })
}

/** Every operation with a body rejects these before it parses the fields. */
export function rejectsUnreadableBodies(subject: Subject): void {
  const { good } = subject

  test('400: a body that is not JSON, is nested too deeply or has a prototype key', async () => {
    const call = await good()
    rejected(await send(subject, { ...call, body: '{"name":' }), 400, 'bad_json')
    rejected(await send(subject, { ...call, body: '{"__proto__":{"admin":true}}' }), 400, 'bad_json')
    rejected(await send(subject, { ...call, body: `${'['.repeat(33)}${']'.repeat(33)}` }), 400, 'invalid')
  })

  test('413: a body of more than 256 KB', async () => {
    const call = await good()
    const body = JSON.stringify({ ...objectOf(call.body), padding: 'x'.repeat(LIMIT_BYTES) })
    rejected(await send(subject, { ...call, body }), 413, 'too_large')
  })

  test('415: a body whose Content-Type is not JSON', async () => {
    const call = await good()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const body = JSON.stringify(objectOf(call.body))
      const reply = await send(subject, { ...call, body }, { headers: { 'content-type': type } })
      rejected(reply, 415, 'unsupported_media')
    }
  })
}
