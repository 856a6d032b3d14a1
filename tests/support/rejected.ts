import { expect } from 'vitest'
import type { Reply } from './client.ts'

/** Expects exactly this error response, without other fields. */
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
    ...(code === 'bad_signature' && { expected_purpose: expect.stringMatching(/\S/) }),
    ...more,
  })
  expect(reply.status).toBe(status)
}

interface Detail {
  readonly path: string
  readonly message: string
}

/** Expects a 400 with these field paths, in this order. */
export function invalid(reply: Reply, ...paths: string[]): void {
  const details = (reply.body.details ?? []) as readonly Detail[]
  expect(details.map(({ path }) => path)).toEqual(paths)
  for (const { message } of details) expect(message).toMatch(/\S/)
  rejected(reply, 400, reply.body.code === 'invalid' ? 'invalid' : 'invalid_input', { details })
}
