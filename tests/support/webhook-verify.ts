import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Registered } from '@market/identity/agents'
import { expect } from 'vitest'
import type { Call } from './webhook-receiver.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TOLERANCE_SECONDS = 5

/** Verifies a call from its raw bytes, as a client library does. */
export function verifyCall(call: Call, secret: string): { event: string; order_id: string; data: unknown } {
  const [, t = '', v1 = ''] =
    /^t=(\d{10}),v1=([0-9a-f]{64})$/.exec(String(call.headers['x-market-signature'])) ?? []
  const expected = createHmac('sha256', secret).update(`${t}.`).update(call.rawBody).digest()
  expect(timingSafeEqual(Buffer.from(v1, 'hex'), expected)).toBe(true)
  expect(Math.abs(call.arrivedAt / 1_000 - Number(t))).toBeLessThan(TOLERANCE_SECONDS)
  const text = call.rawBody.toString('utf8')
  const body = JSON.parse(text)
  expect(Object.keys(body)).toEqual(['event', 'order_id', 'data'])
  expect(text).toBe(JSON.stringify(body))
  return body
}

export function expectHeaders(call: Call, { agent }: Registered, event: string): void {
  expect([call.method, call.path]).toEqual(['POST', '/in'])
  expect(call.deliveryId).toMatch(UUID)
  expect(call.headers).toMatchObject({
    host: call.host,
    'content-type': 'application/json',
    'content-length': String(call.rawBody.length),
    'x-market-event': event,
    'x-market-agent-id': agent.id,
  })
}
