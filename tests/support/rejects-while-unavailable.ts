import { expect, test } from 'vitest'
import { whileOn } from './operator.ts'
import { rejected } from './rejected.ts'
import { type Subject, send, successOf } from './valid-request.ts'

/** A write while a switch blocks it: nothing is saved, so the same request succeeds afterwards. */
export function rejectsWhileReadOnly(subject: Subject): void {
  const { market, operation, good } = subject
  for (const name of ['read_only', ...(operation.stoppedBy ?? [])] as const) {
    test(`503: while ${name} is on, nothing is saved`, async () => {
      const call = await good()
      await whileOn(market(), name, async () => {
        const reply = await send(subject, call)
        rejected(reply, 503, name)
        expect(reply.headers.get('retry-after')).toBe('60')
      })
      expect((await send(subject, call)).status).toBe(successOf(subject))
    })
  }
}

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9'

/** Tokens cannot be verified while the identity provider is unreachable, so the response is neither 200 nor 401. */
export function rejectsWithoutProvider({ market, operation }: Subject, path: string, body?: unknown): void {
  test('503: a token while the identity provider cannot be reached', async () => {
    const away = await market().startApi({ IDP_ISSUER: NOWHERE })
    const bearer = await market().idp.token({ sub: 'somebody' })
    const ask = { bearer, ...(body !== undefined && { body }) }
    const reply = await away.client().send(operation.method, path, ask)
    rejected(reply, 503, 'unavailable')
    expect(reply.headers.get('retry-after')).toBe('2')
  })
}
