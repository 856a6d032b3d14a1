import { randomBytes, randomUUID } from 'node:crypto'
import type { Operation } from '@market/contract/define'
import { operationList, operations } from '@market/contract/operations'
import { SignInstructions } from '@market/contract/schemas/order'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whileOn } from '../support/operator.ts'
import { rejected } from '../support/rejected.ts'
import { rejectsUnreadableBodies } from '../support/rejects-bad-bodies.ts'
import { rejectsUnreadableAuthorization } from '../support/rejects-other-callers.ts'
import { BRIEF, DUE, type PurchaseWorld, startPurchaseWorld } from '../x402/purchase-world.ts'

/** Operations whose every request is a purchase share their contract, whatever their route. */
const sold = [operations.hireService, operations.payService, operations.payServiceV1]

let world: PurchaseWorld
let serviceId: string
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
})
afterAll(() => world.stop())

const buyer = () => world.places['base-mainnet'].newBuyer()

const pathOf = ({ path }: Operation, id = serviceId): string =>
  path.includes('{service_id}') ? path.replace('{service_id}', id) : `${path}?service_id=${id}`

const buy = (operation: Operation, headers: Record<string, string>, brief = BRIEF, id = serviceId) =>
  world.client().post(pathOf(operation, id), { brief }, { headers })

test('every operation with payment: always is tested here', () => {
  const ids = operationList.filter(({ payment }) => payment?.when === 'always').map(({ id }) => id)
  expect(ids.sort()).toEqual(sold.map(({ id }) => id).sort())
})

describe.each(sold)('$id', (operation) => {
  const subject = {
    market: () => world.market,
    operation,
    good: async () => ({ path: pathOf(operation), body: { brief: BRIEF } }),
  }
  rejectsUnreadableBodies(subject)
  rejectsUnreadableAuthorization(subject)

  test('200: a transfer that was made buys the service once; a replay returns the same order', async () => {
    const headers = { 'x-payment': await (await buyer()).send(DUE), 'idempotency-key': randomUUID() }
    const [first, again] = [await buy(operation, headers), await buy(operation, headers)]
    expect([first.status, again.status]).toEqual([200, 200])
    const data = operation.isBare === true ? first.body : first.body.data
    expect(operation.output.parse(data)).toEqual(data)
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  test('400: a payment that is no transaction and no signed payment', async () => {
    rejected(await buy(operation, { 'x-payment': 'nonsense' }), 400, 'malformed_payment')
  })

  test('400: an Idempotency-Key of 129 or 31 characters, or of others than printable ASCII', async () => {
    for (const key of ['k'.repeat(129), 'k'.repeat(31), 'caf\u00e9'])
      rejected(await buy(operation, { 'idempotency-key': key }), 400, 'bad_idempotency_key')
  })

  test('400: an unknown field of the body, by name; the payment stays unused and unknown query parameters are ignored', async () => {
    const headers = { 'x-payment': await (await buyer()).send(DUE) }
    const path = `${pathOf(operation)}${pathOf(operation).includes('?') ? '&' : '?'}utm_source=proxy`
    const send = (body: unknown) => world.client().post(path, body, { headers })
    const reply = await send({ brief: BRIEF, breif: BRIEF })
    rejected(reply, 400, 'invalid_input', { details: [{ path: '', message: expect.any(String) }] })
    expect(reply.body.error).toBe('Unknown field: breif. Did you mean brief?')
    expect((await send([BRIEF])).status).toBe(400)
    expect((await send({ brief: BRIEF })).status).toBe(200)
  })

  test('400: a payment without a brief', async () => {
    const headers = { 'x-payment': await (await buyer()).send(DUE) }
    const reply = await buy(operation, headers, '')
    expect(reply).toMatchObject({ status: 400, body: { code: 'brief_required' } })
  })

  test('402: without a payment, with the requirements; error is a code where there is one', async () => {
    const reply = await buy(operation, {})
    expect(reply.status).toBe(402)
    expect(reply.body).toMatchObject({ x402Version: 1, accepts: expect.arrayContaining([expect.anything()]) })
    const short = await buy(operation, { 'x-payment': await (await buyer()).send(DUE - 1n) })
    expect(short).toMatchObject({ status: 402, body: { error: 'underpaid', message: expect.any(String) } })
  })

  test('404: a service that does not exist', async () => {
    const reply = await buy(operation, {}, BRIEF, 'svc_1794784877443_0snwjnwxjbap05ksv')
    expect(reply).toMatchObject({ status: 404, body: { success: false, code: expect.any(String) } })
  })

  test('409: a transfer that paid another purchase', async () => {
    const headers = { 'x-payment': await (await buyer()).send(DUE) }
    expect((await buy(operation, headers)).status).toBe(200)
    const other = await buy(operation, headers, 'Something else entirely.')
    const sign = other.body['sign']
    rejected(other, 409, 'payment_contested', { sign })
    expect(SignInstructions.parse(sign)).toEqual(sign)
  })

  test('503: read_only and freeze_intake stop a payment before anything is claimed', async () => {
    const headers = { 'x-payment': await (await buyer()).send(DUE) }
    for (const name of ['read_only', 'freeze_intake'] as const) {
      await whileOn(world.market, name, async () => rejected(await buy(operation, headers), 503, name))
    }
    expect((await buy(operation, headers)).status).toBe(200)
  })
})

describe('credentials beside a payment', () => {
  test('the cookie of another page is ignored when the request has a payment', async () => {
    const headers = {
      'x-payment': await (await buyer()).send(DUE),
      cookie: 'idp-token=abc',
      origin: 'https://elsewhere.example',
      'sec-fetch-site': 'cross-site',
    }
    const wanted = { service_id: serviceId, brief: BRIEF }
    expect((await world.client().post('/api/orders', wanted, { headers })).status).toBe(201)
  })
})

describe('Idempotency-Key', () => {
  test('one rule: a key with spaces is accepted with and without a payment', async () => {
    const key = { 'idempotency-key': `my key ${randomUUID()}` }
    const order = (headers: Record<string, string>) =>
      world.client().post('/api/orders', { service_id: serviceId, brief: BRIEF }, { headers })
    expect((await order(key)).status).toBe(402)
    expect((await order({ ...key, 'x-payment': await (await buyer()).send(DUE) })).status).toBe(201)
  })
})

describe('the 402 of every purchase', () => {
  test('`error` is a code, never a sentence', async () => {
    const solana = await world.places['solana-mainnet'].newBuyer()
    const payer = await buyer()
    const { serviceId: dearer } = await world.newSeller({ price_usd: '20.00' })
    const cases = [
      { 'x-payment': await payer.send(DUE - 1n) },
      { 'x-payment': `0x${'1'.repeat(64)}`, 'x-payment-network': 'alt-mainnet' },
      { 'payment-signature': await world.signPayment(dearer, solana) },
    ]
    for (const headers of cases) {
      const reply = await world
        .client()
        .post(`/api/x402/pay?service_id=${serviceId}`, { brief: BRIEF }, { headers })
      expect(reply.status).toBe(402)
      expect(reply.body.error).toMatch(/^[a-z0-9_]+$/)
      expect(reply.body['message']).toMatch(/\.$/)
    }
  })

  test('transaction_not_found_yet: a hash without X-Payment-Network gets a hint at it', async () => {
    const reply = (headers: Record<string, string>) =>
      world
        .client()
        .post(
          `/api/x402/pay?service_id=${serviceId}`,
          { brief: BRIEF },
          { headers: { 'x-payment': `0x${randomBytes(32).toString('hex')}`, ...headers } },
        )
    const inferred = await reply({})
    expect(inferred.body['error']).toBe('transaction_not_found_yet')
    expect(inferred.body['message']).toContain('send the header X-Payment-Network: alt-mainnet')
    for (const network of ['base-mainnet', 'alt-mainnet'])
      expect((await reply({ 'x-payment-network': network })).body['message']).not.toContain(
        'X-Payment-Network',
      )
  })
})
