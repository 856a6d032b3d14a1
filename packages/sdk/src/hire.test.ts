import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Market } from './market.ts'
import type { PaymentRequirement } from './payment.ts'
import { sleep } from './send.ts'

type Responder = (response: ServerResponse) => void
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const REQUIREMENT: PaymentRequirement = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x01',
  amount: '1000000',
  payTo: '0x02',
  maxTimeoutSeconds: 300,
  extra: {},
}
const send = (status: number, body: unknown, headers: Record<string, string> = {}): Responder => {
  return (response) => void response.writeHead(status, headers).end(JSON.stringify(body))
}
const page: Responder = (response) => void response.writeHead(403).end('<html>')
const bought = send(200, { success: true, data: { order_id: 'ord_1', status_url: '/x?t=token' } })

/** Quotes the requirement, responds to payments one after the other, and to reads of the order with the last responder. */
async function hireAt(requirement: PaymentRequirement, payments: Responder[], order: Responder) {
  const keys: unknown[] = []
  const signed: PaymentRequirement[] = []
  const accepts = [{ network: 'base-mainnet', payTo: '0x02', asset: { address: '0x01' } }]
  const required = btoa(JSON.stringify({ accepts: [requirement], resource: {} }))
  const server = createServer((request, response) => {
    request.resume()
    if (request.method === 'GET') return order(response)
    if (request.headers['payment-signature'] === undefined)
      return send(402, { error: 'payment_required', accepts }, { 'payment-required': required })(response)
    keys.push(request.headers['idempotency-key'])
    payments[keys.length - 1]?.(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign = async (one: PaymentRequirement) => {
    signed.push(one)
    return {}
  }
  const payer = { networks: ['base-mainnet'], sign } as const
  const hiring = new Market({ apiUrl, retries: 0 }).hire({ service: 's', brief: 'b', payer, maxUsd: '1' })
  const error = await hiring.then(() => undefined).catch((thrown: unknown) => thrown)
  return { keys, signed, error, apiUrl }
}

const delivered = send(200, { success: true, data: { order: { status: 'delivered' }, deliverables: [] } })

test('hire: repeats the payment after responses that are not of the API', async () => {
  const payments = [send(521, {}), page, send(200, null), bought]
  const { keys, signed, error } = await hireAt(REQUIREMENT, payments, delivered)
  expect([error, keys.length, new Set(keys).size, signed.length]).toEqual([undefined, 4, 1, 1])
})

test('hire: a rejected payment has the idempotencyKey in its error', async () => {
  const { keys, error } = await hireAt(REQUIREMENT, [send(402, { error: 'no_balance' })], delivered)
  expect(error).toMatchObject({ code: 'no_balance', idempotencyKey: keys[0] })
})

test('hire: an error after the purchase has the order and its statusUrl', async () => {
  const { keys, error, apiUrl } = await hireAt(
    REQUIREMENT,
    [bought],
    send(404, { code: 'not_found', error: 'No.' }),
  )
  const statusUrl = `${apiUrl}/api/x402/orders/ord_1?t=token`
  expect(error).toMatchObject({ code: 'not_found', idempotencyKey: keys[0], orderId: 'ord_1', statusUrl })
})

test('hire: signs nothing when base-mainnet is another chain', async () => {
  const { signed, error } = await hireAt({ ...REQUIREMENT, network: 'eip155:1' }, [], delivered)
  expect([signed, error]).toMatchObject([[], { code: 'bad_response' }])
})

test('hire: signs a payment that is valid for at most 600 seconds', async () => {
  const { signed } = await hireAt({ ...REQUIREMENT, maxTimeoutSeconds: 1e9 }, [bought], delivered)
  expect(signed[0]?.maxTimeoutSeconds).toBe(600)
})

test.each([Number.POSITIVE_INFINITY, 1e12])('sleep(%d) does not end at once', async (milliseconds) => {
  const ended = new AbortController()
  const long = sleep(milliseconds, ended.signal).then(
    () => 'long',
    () => 'aborted',
  )
  expect(await Promise.race([long, sleep(50).then(() => 'short')])).toBe('short')
  ended.abort()
})
