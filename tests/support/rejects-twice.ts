import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { rejected } from './rejected.ts'
import { type Subject, send, successOf, type ValidRequest } from './valid-request.ts'

export interface Repeatable extends Subject {
  /** A different request that the same caller could make. */
  readonly other: (call: ValidRequest) => ValidRequest
}

const keyed = () => ({ key: randomUUID() })

/** The idempotency tests of every write. */
export function rejectsTwice(subject: Repeatable): void {
  const { good, other } = subject
  const success = successOf(subject)

  test(`${success}: repeated with its Idempotency-Key, returns the same response and runs once`, async () => {
    const call = await good()
    const again = keyed()
    const first = await send(subject, call, again)
    const second = await send(subject, call, again)
    expect(first.status).toBe(success)
    expect(first.headers.has('idempotent-replayed')).toBe(false)
    expect(second.status).toBe(success)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
  })

  test('422: an Idempotency-Key that was used for another request', async () => {
    const call = await good()
    const again = keyed()
    expect((await send(subject, other(call), again)).status).toBeLessThan(300)
    const reply = await send(subject, call, again)
    rejected(reply, 422, 'idempotency_key_reused')
    expect((await send(subject, call)).status).toBe(success)
  })
}
