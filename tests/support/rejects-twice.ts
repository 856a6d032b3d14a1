import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { rejected } from './rejected.ts'
import { type Subject, send, successOf, type ValidRequest } from './valid-request.ts'

export interface Repeatable extends Subject {
  /** A different request that the same caller could make. */
  readonly other: (call: ValidRequest) => ValidRequest | Promise<ValidRequest>
  /** The request waits for a result. Its replay shows the operation as it was when the request was accepted. */
  readonly waits?: boolean
}

const keyed = () => ({ key: randomUUID() })

/** The idempotency tests of every write. */
export function rejectsTwice(subject: Repeatable): void {
  const { good, other, operation, waits = false } = subject
  const success = successOf(subject)

  test(`${success}: repeated with its Idempotency-Key, returns the same response and runs once`, async () => {
    const call = await good()
    const again = keyed()
    const first = await send(subject, call, again)
    const second = await send(subject, call, again)
    expect(first.status).toBe(success)
    expect(first.headers.has('idempotent-replayed')).toBe(false)
    expect(second.status).toBe(waits ? operation.laterStatus : success)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    if (waits) expect(second.body.data.operation_id).toBe(first.body.data.operation_id)
    else expect(second.body).toEqual(first.body)
  })

  test('422: an Idempotency-Key that was used for another request', async () => {
    const call = await good()
    const again = keyed()
    expect((await send(subject, await other(call), again)).status).toBeLessThan(300)
    const reply = await send(subject, call, again)
    rejected(reply, 422, 'idempotency_key_reused')
    expect((await send(subject, call)).status).toBe(success)
  })
}
