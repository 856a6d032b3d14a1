import { expect } from 'vitest'
import type { Reply } from './client.ts'

/** The whole body of a failure: nothing is missing from it, and nothing more leaves with it. */
export function rejected(
  reply: Reply,
  status: number,
  code: string,
  more: Record<string, unknown> = {},
): void {
  expect(reply.body).toEqual({
    success: false,
    error: expect.stringMatching(/\S/),
    code,
    request_id: reply.headers.get('x-request-id'),
    ...more,
  })
  expect(reply.status).toBe(status)
}

interface Detail {
  readonly path: string
  readonly message: string
}

/** A 400 that names each field that is wrong, in the order given. */
export function invalid(reply: Reply, ...paths: string[]): void {
  const details = (reply.body.details ?? []) as readonly Detail[]
  expect(details.map(({ path }) => path)).toEqual(paths)
  for (const { message } of details) expect(message).toMatch(/\S/)
  rejected(reply, 400, reply.body.code === 'invalid' ? 'invalid' : 'invalid_input', { details })
}
