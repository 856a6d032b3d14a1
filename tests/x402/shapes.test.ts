import { validatePaymentRequiredDetailed } from '@agentcash/discovery'
import { isPaymentRequiredV2, parsePaymentRequired } from '@x402/core/schemas'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { BASE_URL, SHORT_WAIT } from '../support/settings.ts'
import type { EvmBuyer } from './buyers.ts'
import { BRIEF, DUE, decoded, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** The exact bodies and headers of the purchase routes. */

const FEE = 1_000_000n

let world: PurchaseWorld
let serviceId: string
let buyer: EvmBuyer
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
  buyer = await world.places['base-mainnet'].newBuyer()
})
afterAll(() => world.stop())

/** Values that differ in every run, replaced by names. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/"order_id":"ord_\w+"/g, '"order_id":"<order>"'],
  [/orders\/ord_\w+\?t=[\w-]{22}"/g, 'orders/<order>?t=<word>"'],
  [/0x[0-9a-f]{64}/g, '<transaction>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<request>'],
]

function shown(value: unknown): unknown {
  const own: Record<string, string> = {
    [serviceId]: '<service>',
    [BASE_URL]: '<base>',
    [buyer.address.toLowerCase()]: '<buyer>',
    [world.base.treasury]: '<treasury on Base>',
    [world.alt.treasury]: '<treasury on alt>',
    [world.solana.treasury]: '<treasury on Solana>',
    [world.solana.gas]: '<gas account on Solana>',
  }
  let text = JSON.stringify(value)
  for (const [secret, name] of Object.entries(own)) text = text.replaceAll(secret, name)
  for (const [pattern, name] of NAMES) text = text.replace(pattern, name)
  return JSON.parse(text)
}

const TOLD = [
  'cache-control',
  'content-type',
  'idempotent-replayed',
  'retry-after',
  'x-market-payment-claim',
  'x-market-payment-expires',
  'x-market-payment-reference',
]

/** Status, payment headers and body. */
const answer = ({ status, headers, body }: Reply) => ({
  status,
  headers: Object.fromEntries(
    TOLD.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, name.startsWith('x-market') ? `${value.length} letters` : value]]
    }),
  ),
  body: shown(body),
})
const required = ({ headers }: Reply) => decoded(headers, 'payment-required')
const settled = ({ headers }: Reply) => {
  expect(headers.get('x-payment-response')).toBe(headers.get('payment-response'))
  return shown(decoded(headers, 'payment-response'))
}

/** The header of every payment that was settled. */
const SETTLED = { network: 'eip155:8453', payer: '<buyer>', success: true, transaction: '<transaction>' }

/** The texts of a service's quote, with the name, the price and the route of a registration. */
const forRegistration = (quote: unknown) =>
  JSON.parse(
    JSON.stringify(quote)
      .replaceAll('A review of one pull request (<service>)', 'Registration of an agent')
      .replaceAll(`"${DUE}"`, `"${FEE}"`)
      .replaceAll('<base>/api/x402/discover/<service>', '<base>/api/agents/register?pay=x402'),
  )

const ask = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  world.client().post(path, body, { headers })
const wanted = () => ({ name: someName(), description: DESCRIPTION })

describe('402', () => {
  test('body and headers of a quote', async () => {
    const quote = await world.client().get(`/api/x402/discover/${serviceId}`)
    expect(answer(quote)).toMatchInlineSnapshot(`
      {
        "body": {
          "accepts": [
            {
              "asset": {
                "address": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
                "currency": "USDC",
              },
              "description": "A review of one pull request (<service>)",
              "maxAmountRequired": "11000000",
              "network": "solana-mainnet",
              "payTo": "<treasury on Solana>",
              "resource": "<base>/api/x402/discover/<service>",
              "scheme": "exact",
              "version": "1",
            },
            {
              "asset": {
                "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "currency": "USDC",
              },
              "description": "A review of one pull request (<service>)",
              "maxAmountRequired": "11000000",
              "network": "base-mainnet",
              "payTo": "<treasury on Base>",
              "resource": "<base>/api/x402/discover/<service>",
              "scheme": "exact",
              "version": "1",
            },
            {
              "asset": {
                "address": "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
                "currency": "USDC",
              },
              "description": "A review of one pull request (<service>)",
              "maxAmountRequired": "11000000",
              "network": "alt-mainnet",
              "payTo": "<treasury on alt>",
              "resource": "<base>/api/x402/discover/<service>",
              "scheme": "exact",
              "version": "1",
            },
          ],
          "proof": {
            "hash": {
              "contest_minutes": 15,
              "max_age_seconds": 3600,
              "payout_wait_hours": 168,
              "refund_after_days": 7,
              "signature_required_for": [
                "a wallet that is linked to an account",
                "a wallet with an unpaid order that the transfer could pay",
                "a wallet with an open bounty that the transfer could pay",
              ],
            },
            "message": "A transaction hash is public, so a hash alone does not prove who paid. The seller is paid 168 hours after such a purchase, or at once when the payer signs. If another request names the same transfer within 15 minutes of its block, the payment is contested: the payer’s signature decides, and without one an undelivered purchase is refunded to the payer after 7 days.",
            "reference": {
              "claim_header": "X-Payment-Claim",
              "header": "X-Market-Payment-Reference",
            },
            "signature": {
              "headers": [
                "X-Market-Wallet",
                "X-Market-Wallet-Sig",
                "X-Market-Wallet-Sig-Ts",
              ],
              "message_url": "<base>/api/auth/message",
              "purpose": "x402.pay:<network>:<transaction>:<service>:<hex SHA-256 of brief>",
            },
          },
          "x402Version": 1,
        },
        "headers": {
          "cache-control": "no-store",
          "content-type": "application/json; charset=utf-8",
          "x-market-payment-claim": "48 letters",
          "x-market-payment-expires": "24 letters",
          "x-market-payment-reference": "43 letters",
        },
        "status": 402,
      }
    `)
    expect(quote.headers.get('x-market-payment-expires')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  test('the header of a quote, for clients of version 2', async () => {
    const quote = await world.client().get(`/api/x402/discover/${serviceId}`)
    expect(shown(required(quote))).toMatchInlineSnapshot(`
      {
        "accepts": [
          {
            "amount": "11000000",
            "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
            "extra": {
              "feePayer": "<gas account on Solana>",
            },
            "maxTimeoutSeconds": 300,
            "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
            "payTo": "<treasury on Solana>",
            "scheme": "exact",
          },
          {
            "amount": "11000000",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "extra": {
              "name": "USD Coin",
              "version": "2",
            },
            "maxTimeoutSeconds": 300,
            "network": "eip155:8453",
            "payTo": "<treasury on Base>",
            "scheme": "exact",
          },
          {
            "amount": "11000000",
            "asset": "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
            "extra": {
              "name": "USD Coin",
              "version": "2",
            },
            "maxTimeoutSeconds": 300,
            "network": "eip155:42161",
            "payTo": "<treasury on alt>",
            "scheme": "exact",
          },
        ],
        "error": "payment_required",
        "extensions": {
          "bazaar": {
            "info": {
              "input": {
                "body": {
                  "brief": "A square logo for a bakery, warm colours",
                },
                "bodyType": "json",
                "method": "POST",
                "type": "http",
              },
              "output": {
                "example": {
                  "order_id": "ord_...",
                  "result_url": "https://...",
                  "status": "paid",
                },
                "type": "json",
              },
            },
            "schema": {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "properties": {
                "input": {
                  "additionalProperties": false,
                  "properties": {
                    "body": {
                      "properties": {
                        "brief": {
                          "type": "string",
                        },
                        "requirements": {
                          "type": "object",
                        },
                      },
                      "required": [
                        "brief",
                      ],
                      "type": "object",
                    },
                    "bodyType": {
                      "enum": [
                        "json",
                      ],
                      "type": "string",
                    },
                    "method": {
                      "enum": [
                        "POST",
                      ],
                      "type": "string",
                    },
                    "type": {
                      "const": "http",
                      "type": "string",
                    },
                  },
                  "required": [
                    "type",
                    "method",
                    "bodyType",
                    "body",
                  ],
                  "type": "object",
                },
                "output": {
                  "properties": {
                    "example": {
                      "type": "object",
                    },
                    "type": {
                      "type": "string",
                    },
                  },
                  "required": [
                    "type",
                  ],
                  "type": "object",
                },
              },
              "required": [
                "input",
              ],
              "type": "object",
            },
          },
          "payment-identifier": {
            "info": {
              "required": false,
            },
            "schema": {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "properties": {
                "id": {
                  "maxLength": 128,
                  "minLength": 16,
                  "pattern": "^[a-zA-Z0-9_-]+$",
                  "type": "string",
                },
                "required": {
                  "type": "boolean",
                },
              },
              "required": [
                "required",
              ],
              "type": "object",
            },
          },
        },
        "resource": {
          "description": "A review of one pull request (<service>)",
          "mimeType": "application/json",
          "serviceName": "Agent Market",
          "url": "<base>/api/x402/discover/<service>",
        },
        "x402Version": 2,
      }
    `)
  })

  test('is the same on every route, and valid for the x402 schemas', async () => {
    const first = await world.client().get(`/api/x402/discover/${serviceId}`)
    const replies = [
      first,
      await world.client().get(`/api/x402/discover?service_id=${serviceId}`),
      await ask(`/api/x402/discover/${serviceId}`, { brief: BRIEF }),
      await ask(world.payPath(serviceId), { brief: BRIEF }),
      await ask('/api/x402/pay', { service_id: serviceId, brief: BRIEF }),
      await ask('/api/orders', { service_id: serviceId, brief: BRIEF }),
    ]
    for (const reply of replies) {
      expect(answer(reply)).toEqual(answer(first))
      expect(required(reply)).toEqual(required(first))
    }
    const registering = await ask('/api/agents/register?pay=x402', wanted())
    for (const reply of [first, registering]) {
      expect(isPaymentRequiredV2(required(reply))).toBe(true)
      expect(parsePaymentRequired(required(reply)).error).toBeUndefined()
      const { valid, issues } = validatePaymentRequiredDetailed(required(reply))
      expect([valid, issues.filter(({ severity }) => severity === 'error')]).toEqual([true, []])
      expect(reply.headers.get('payment-required')?.length).toBeLessThan(4_096)
    }
  })

  test('the rejection reason is in the body and in the header', async () => {
    const short = await world.buyWithTransfer(serviceId, buyer, await buyer.send(DUE - 1n))
    expect(short).toMatchObject({ status: 402, body: { x402Version: 1, error: 'underpaid' } })
    expect(required(short)['error']).toBe('underpaid')
    const first = await world.client().get(`/api/x402/discover/${serviceId}`)
    const { error: _code, message: _sentence, ...body } = short.body
    expect(body).toEqual(first.body)
  })

  test('the route of version 1', async () => {
    const quote = await ask(`/api/x402/v1/pay?service_id=${serviceId}`, { brief: BRIEF })
    expect(quote.headers.has('payment-required')).toBe(false)
    expect(answer(quote)).toMatchInlineSnapshot(`
      {
        "body": {
          "accepts": [
            {
              "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
              "description": "A review of one pull request (<service>)",
              "extra": {
                "name": "USD Coin",
                "version": "2",
              },
              "maxAmountRequired": "11000000",
              "maxTimeoutSeconds": 300,
              "mimeType": "application/json",
              "network": "base",
              "payTo": "<treasury on Base>",
              "resource": "<base>/api/x402/v1/pay?service_id=<service>",
              "scheme": "exact",
            },
            {
              "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
              "description": "A review of one pull request (<service>)",
              "extra": {
                "feePayer": "<gas account on Solana>",
              },
              "maxAmountRequired": "11000000",
              "maxTimeoutSeconds": 300,
              "mimeType": "application/json",
              "network": "solana",
              "payTo": "<treasury on Solana>",
              "resource": "<base>/api/x402/v1/pay?service_id=<service>",
              "scheme": "exact",
            },
          ],
          "error": "payment_required",
          "message": "Pay one of the requirements in accepts, then send the request again with the payment.",
          "x402Version": 1,
        },
        "headers": {
          "cache-control": "no-store",
          "content-type": "application/json; charset=utf-8",
          "x-market-payment-claim": "48 letters",
          "x-market-payment-expires": "24 letters",
          "x-market-payment-reference": "43 letters",
        },
        "status": 402,
      }
    `)
  })

  test('registering an agent: differs from the quote of a service in what it names and costs', async () => {
    const quote = await world.client().get(`/api/x402/discover/${serviceId}`)
    const registering = await ask('/api/agents/register?pay=x402', wanted())
    const expected = forRegistration(answer(quote))
    const { proof } = expected.body
    expect(answer(registering)).toEqual({
      ...expected,
      body: {
        ...expected.body,
        proof: {
          ...proof,
          hash: { ...proof.hash, payout_wait_hours: null },
          message:
            'A transaction hash is public, so a hash alone does not prove who paid. If another request names the same transfer within 15 minutes of its block, the payment is contested: the payer’s signature decides, and without one an undelivered purchase is refunded to the payer after 7 days.',
          signature: {
            ...proof.signature,
            purpose: 'x402.register:<network>:<transaction>:<hex SHA-256 of name>',
          },
        },
      },
    })
    const { extensions: _, ...header } = required(quote)
    expect(shown({ ...required(registering), extensions: undefined })).toEqual(forRegistration(shown(header)))
  })
})

describe('paid', () => {
  const paid = async (due = DUE) => ({ 'x-payment': await buyer.send(due) })

  test('200 of discover', async () => {
    const reply = await ask(`/api/x402/discover/${serviceId}`, { brief: BRIEF }, await paid())
    expect(answer(reply)).toMatchInlineSnapshot(`
      {
        "body": {
          "order_id": "<order>",
          "result_url": "<base>/api/x402/orders/<order>?t=<word>",
          "status": "paid",
        },
        "headers": {
          "cache-control": "private, no-store",
          "content-type": "application/json; charset=utf-8",
        },
        "status": 200,
      }
    `)
    expect(settled(reply)).toEqual(SETTLED)
  })

  test('200 of pay, the same with 201 of orders, and a replay', async () => {
    const headers = { ...(await paid()), 'idempotency-key': 'a-key-of-the-buyer-that-nobody-guesses' }
    const reply = await ask(world.payPath(serviceId), { brief: BRIEF }, headers)
    expect(answer(reply)).toMatchInlineSnapshot(`
      {
        "body": {
          "data": {
            "order_id": "<order>",
            "status": "paid",
            "status_url": "<base>/api/x402/orders/<order>?t=<word>",
          },
          "success": true,
        },
        "headers": {
          "cache-control": "private, no-store",
          "content-type": "application/json; charset=utf-8",
        },
        "status": 200,
      }
    `)
    expect(settled(reply)).toEqual(SETTLED)
    const told = answer(reply)
    const ordered = await ask('/api/orders', { service_id: serviceId, brief: BRIEF }, await paid())
    expect(answer(ordered)).toEqual({ ...told, status: 201 })
    const again = await ask(world.payPath(serviceId), { brief: BRIEF }, headers)
    expect(answer(again)).toEqual({ ...told, headers: { ...told.headers, 'idempotent-replayed': 'true' } })
  })

  test('200 of a signed payment has the same shape', async () => {
    const reply = await world.buyWithSignature(serviceId, await world.signPayment(serviceId, buyer))
    expect(answer(reply)).toEqual(answer(await ask(world.payPath(serviceId), { brief: BRIEF }, await paid())))
    expect(settled(reply)).toEqual(SETTLED)
  })

  test('201 of registering, and 200 without the key for a replay', async () => {
    const [body, headers] = [wanted(), await paid(FEE)]
    const reply = await ask('/api/agents/register?pay=x402', body, headers)
    expect(reply.body).toEqual({
      success: true,
      data: {
        agent_id: expect.stringMatching(/^agt_/),
        slug: expect.stringMatching(/^agent-/),
        api_key: expect.stringMatching(/^market_/),
        webhook_secret: null,
        marketable: true,
        twitter_username: null,
        wallet: { solana_address: expect.any(String), note: expect.any(String) },
        protocol_spec: { required_endpoints: [expect.objectContaining({ method: 'POST' })] },
      },
    })
    expect(answer(reply)).toMatchObject({
      status: 201,
      headers: { 'cache-control': 'private, no-store', 'content-type': 'application/json; charset=utf-8' },
    })
    expect(settled(reply)).toEqual(SETTLED)
    const again = await ask('/api/agents/register?pay=x402', body, headers)
    const { agent_id, slug } = reply.body.data
    expect([again.status, again.body]).toEqual([
      200,
      { success: true, data: { agent_id, slug, note: expect.any(String), sign: expect.any(Object) } },
    ])
  })
})

describe('rejected', () => {
  const missing = (path: string) => ({ details: [{ message: 'is required', path }] })

  /** The condition, the request, and what the error envelope contains beside its message. */
  const rejected: readonly (readonly [string, () => Promise<Reply>, Record<string, unknown>])[] = [
    [
      'no brief',
      async () => world.buyWithTransfer(serviceId, buyer, await buyer.send(DUE), { brief: '' }),
      { status: 400, code: 'brief_required', ...missing('brief') },
    ],
    [
      'a payment that cannot be parsed',
      () => ask(world.payPath(serviceId), { brief: BRIEF }, { 'x-payment': 'x' }),
      { status: 400, code: 'malformed_payment' },
    ],
    [
      'two payments',
      () => ask(world.payPath(serviceId), { brief: BRIEF }, { 'x-payment': 'x', 'payment-signature': 'x' }),
      { status: 400, code: 'malformed_payment' },
    ],
    [
      'an invalid Idempotency-Key',
      async () =>
        world.buyWithTransfer(serviceId, buyer, await buyer.send(DUE), {
          headers: { 'idempotency-key': 'ü' },
        }),
      { status: 400, code: 'bad_idempotency_key' },
    ],
    [
      'no service',
      () => ask('/api/x402/pay', { brief: BRIEF }),
      { status: 400, code: 'invalid_input', ...missing('service_id') },
    ],
    [
      'a service that does not exist',
      () => ask(world.payPath('svc_1700000000000_00000000000000000'), {}),
      { status: 404, code: 'service_not_found' },
    ],
    [
      'a service without a price',
      async () => {
        const quoted = await world.newSeller({ price_type: 'quote', price_usd: undefined })
        return ask(world.payPath(quoted.serviceId), {})
      },
      { status: 404, code: 'not_payable' },
    ],
    [
      'a payment that bought something else',
      async () => {
        const reference = await buyer.send(DUE)
        await world.buyWithTransfer(serviceId, buyer, reference)
        return world.buyWithTransfer(serviceId, buyer, reference, { brief: 'Something else.' })
      },
      {
        status: 409,
        code: 'payment_contested',
        sign: {
          ...{ wallet: expect.any(String), purpose: expect.any(String), message: expect.any(String) },
          ...{ wallet_sig_ts: expect.any(Number), expires_at: expect.any(String) },
          ...{ message_url: expect.any(String), send_to: expect.any(String) },
        },
      },
    ],
  ]
  test.each(rejected)('the error envelope for %s', async (_condition, reject, expected) => {
    const { status, body } = await reject()
    const envelope = { success: false, error: expect.any(String), request_id: expect.any(String) }
    expect({ status, ...body }).toEqual({ ...envelope, ...expected })
  })
})

test('returns 404 for every other method, so that HEAD and OPTIONS never charge', async () => {
  const headers = { 'x-payment': await buyer.send(DUE), 'x-market-brief': BRIEF }
  for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    for (const path of [`/api/x402/discover/${serviceId}`, world.payPath(serviceId)]) {
      const { status } = await fetch(`${world.market.url}${path}`, { method, headers })
      expect([method, path, status]).toEqual([method, path, 404])
    }
  expect(await world.ordersOf(headers['x-payment'])).toEqual([])
})

describe.concurrent('waiting', () => {
  let api: Awaited<ReturnType<PurchaseWorld['market']['startApi']>>
  beforeAll(async () => {
    api = await world.market.startApi(SHORT_WAIT)
  })

  test('202 while the payment is pending', async ({ expect }) => {
    const payment = await world.signPayment(serviceId, buyer)
    await world.base.chain.automine(false)
    const reply = await world.buyWithSignature(serviceId, payment, { api })
    await world.base.chain.automine(true)
    await world.base.chain.mine(1)
    expect(answer(reply)).toMatchInlineSnapshot(`
      {
        "body": {
          "data": {
            "payment": "settlement_pending",
            "status": "accepted",
            "transaction": "<transaction>",
          },
          "success": true,
        },
        "headers": {
          "cache-control": "private, no-store",
          "content-type": "application/json; charset=utf-8",
          "retry-after": "2",
        },
        "status": 202,
      }
    `)
    expect(shown(decoded(reply.headers, 'payment-response'))).toMatchInlineSnapshot(`
      {
        "errorReason": "settlement_pending",
        "network": "eip155:8453",
        "success": false,
        "transaction": "<transaction>",
      }
    `)
    expect((await world.buyWithSignature(serviceId, payment)).status).toBe(200)
  })

  test('409 while another request processes the payment', async ({ expect }) => {
    const other = await world.places['alt-mainnet'].newBuyer()
    const payment = await world.signPayment(serviceId, other)
    const { payload } = JSON.parse(Buffer.from(payment, 'base64').toString()) as {
      payload: { authorization: { from: string; nonce: string } }
    }
    const { from, nonce } = payload.authorization
    // Another process has the lease of the payment and sends no heartbeat yet.
    const first = await world.buyWithSignature(serviceId, payment)
    await world.market.db
      .updateTable('purchases')
      .set({ state: 'claimed', result_id: null, lease_until: new Date(Date.now() + 60_000) })
      .where('proof', '=', `${from}:${nonce}`.toLowerCase())
      .execute()
    expect(first.status).toBe(200)
    const { status, headers, body } = answer(await world.buyWithSignature(serviceId, payment, { api }))
    expect({ status, headers, body }).toMatchInlineSnapshot(`
      {
        "body": {
          "code": "payment_in_progress",
          "error": "This payment is being processed by another request. Send this request again in 2 seconds.",
          "request_id": "<request>",
          "success": false,
        },
        "headers": {
          "cache-control": "no-store",
          "content-type": "application/json; charset=utf-8",
          "retry-after": "2",
        },
        "status": 409,
      }
    `)
  })
})
