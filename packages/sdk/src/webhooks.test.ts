import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifyWebhook, verifyWebhookRequest } from './webhooks.ts'

const SECRET = 'whsec_of_a_test'
const BODY = '{"event":"order.paid","order_id":"ord_1","data":{"status":"paid","service_title":"Größe"}}'

const now = () => Math.round(Date.now() / 1_000)
const sign = (body: string | Uint8Array, time = now(), secret = SECRET) =>
  `t=${time},v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`
const headersOf = (signature: string) => ({
  'X-Market-Signature': signature,
  'X-Market-Delivery-Id': 'delivery',
  'X-Market-Agent-Id': 'agt_1',
})
const reasonOf = (webhook: Promise<unknown>) =>
  webhook.then(
    () => 'accepted',
    (error) => error.reason,
  )

describe('verifyWebhook', () => {
  test.each([
    ['text and a record', BODY, headersOf(sign(BODY))],
    ['bytes and Headers', new TextEncoder().encode(BODY), new Headers(headersOf(sign(BODY)))],
    [
      'headers of Node',
      BODY,
      {
        'x-market-signature': [sign(BODY)],
        'x-market-delivery-id': 'delivery',
        'x-market-agent-id': 'agt_1',
      },
    ],
  ])('returns the event of %s', async (_, body, headers) => {
    expect(await verifyWebhook({ body, headers, secret: SECRET })).toEqual({
      event: 'order.paid',
      order_id: 'ord_1',
      data: { status: 'paid', service_title: 'Größe' },
      deliveryId: 'delivery',
      agentId: 'agt_1',
    })
  })

  test.each([
    ['signature_missing', BODY, ''],
    ['signature_malformed', BODY, 'v1=00'],
    ['signature_malformed', BODY, sign(BODY).toUpperCase()],
    ['signature_malformed', BODY, `${sign(BODY)},v1=${'0'.repeat(64)}`],
    ['signature_wrong', `${BODY} `, sign(BODY)],
    ['signature_wrong', BODY, sign(BODY, now(), 'another secret')],
    ['signature_wrong', BODY, sign(BODY).replace(/t=\d+/, `t=${now() + 1}`)],
    ['timestamp_out_of_range', BODY, sign(BODY, now() - 302)],
    ['timestamp_out_of_range', BODY, sign(BODY, now() + 302)],
    ['body_malformed', '{', sign('{')],
    ['body_malformed', '[]', sign('[]')],
  ])('rejects with %s', async (reason, body, signature) => {
    expect(await reasonOf(verifyWebhook({ body, headers: headersOf(signature), secret: SECRET }))).toBe(
      reason,
    )
  })

  test('accepts either signature: the secret may have been replaced within the last hour', async () => {
    const headers = {
      ...headersOf(sign(BODY, now(), 'the new secret')),
      'X-Market-Signature-Previous': sign(BODY),
    }
    const verify = (secret: string) => reasonOf(verifyWebhook({ body: BODY, headers, secret }))
    expect(await Promise.all([verify('the new secret'), verify(SECRET), verify('another')])).toEqual([
      ...['accepted', 'accepted', 'signature_wrong'],
    ])
  })

  test.each([
    ['signature_missing', '', sign(BODY)],
    ['signature_wrong', sign(BODY, now(), 'new'), 'v1=00'],
    ['timestamp_out_of_range', sign(BODY, now(), 'new'), sign(BODY, now() - 302)],
  ])('rejects with %s also beside a previous signature', async (reason, signature, previous) => {
    const headers = { ...headersOf(signature), 'X-Market-Signature-Previous': previous }
    expect(await reasonOf(verifyWebhook({ body: BODY, headers, secret: SECRET }))).toBe(reason)
  })

  test('accepts an older signature with a larger tolerance', async () => {
    const headers = headersOf(sign(BODY, now() - 3_000))
    expect(
      await reasonOf(verifyWebhook({ body: BODY, headers, secret: SECRET, toleranceSeconds: 4_000 })),
    ).toBe('accepted')
  })

  test('throws without a secret instead of accepting a signature with an empty one', async () => {
    const headers = headersOf(sign(BODY, now(), ''))
    await expect(verifyWebhook({ body: BODY, headers, secret: '' })).rejects.toThrow('secret is empty')
  })
})

describe('verifyWebhookRequest', () => {
  const requestOf = (body: string) =>
    new Request('http://seller.example/', { method: 'POST', headers: headersOf(sign(body)), body })

  test('reads the raw body of a request', async () => {
    expect(await verifyWebhookRequest(requestOf(BODY), SECRET)).toMatchObject({ event: 'order.paid' })
  })

  test('rejects a body of more than a mebibyte before it verifies it', async () => {
    expect(await reasonOf(verifyWebhookRequest(requestOf('x'.repeat(1_048_577)), SECRET))).toBe(
      'body_too_large',
    )
  })
})
