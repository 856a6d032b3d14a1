import { expect, test } from 'vitest'
import { bodyOf, headersOf, signatureOf } from './message.ts'

const MESSAGE = {
  agentId: 'agt_1',
  deliveryId: '00000000-0000-4000-8000-000000000001',
  event: 'order.paid',
  orderId: 'ord_1',
  data: { note: 'Zoë' },
}
const BODY = '{"event":"order.paid","order_id":"ord_1","data":{"note":"Zoë"}}'
const AT = new Date('2026-01-01T00:00:00.999Z')

/** Computed with: printf '1767225600.<body>' | openssl dgst -sha256 -hmac whsec_vector */
const VECTOR = 't=1767225600,v1=f42c0fa872ec1668e5f472f8e36f93884b89ece60e9f62095e27f6018748d912'

test('bodyOf: the fields have a fixed order, and order_id is empty for an event without an order', () => {
  expect(bodyOf(MESSAGE)).toBe(BODY)
  expect(bodyOf({ ...MESSAGE, orderId: '' })).toBe(
    '{"event":"order.paid","order_id":"","data":{"note":"Zoë"}}',
  )
})

test('signatureOf: equals the signature that openssl computes', () => {
  expect(signatureOf('whsec_vector', BODY, AT)).toBe(VECTOR)
})

test('signatureOf: depends on the secret, the second and the body, not on the millisecond', () => {
  const made = [
    signatureOf('whsec_vectos', BODY, AT),
    signatureOf('whsec_vector', BODY, new Date('2026-01-01T00:00:01Z')),
    signatureOf('whsec_vector', `${BODY} `, AT),
  ]
  expect(new Set([...made, VECTOR]).size).toBe(4)
  expect(signatureOf('whsec_vector', BODY, new Date('2026-01-01T00:00:00Z'))).toBe(VECTOR)
})

test('headersOf: returns the documented headers, without a signature when there is no secret', () => {
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'AgentMarket-Webhooks/1.0',
    'X-Market-Event': 'order.paid',
    'X-Market-Agent-Id': 'agt_1',
    'X-Market-Delivery-Id': MESSAGE.deliveryId,
  }
  const signed = { ...headers, 'X-Market-Signature': VECTOR }
  expect(headersOf(MESSAGE, BODY, { current: 'whsec_vector', previous: null }, AT)).toEqual(signed)
  expect(headersOf(MESSAGE, BODY, { current: null, previous: null }, AT)).toEqual(headers)
})
