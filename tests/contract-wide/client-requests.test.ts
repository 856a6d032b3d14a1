import { type HttpRequest, type RequestOptions, requestOf, UnsendableError } from '@market/contract/client'
import type { Operation } from '@market/contract/define'
import { operationList, operations } from '@market/contract/operations'
import type { Call } from '@market/handlers/call'
import { acceptJson } from '@market/http/json-body'
import { mountRest } from '@market/http/rest'
import fc from 'fast-check'
import fastify from 'fastify'
import { afterAll, describe, expect, test } from 'vitest'
import { validInputs } from '../support/schema-arbitraries.ts'

/** `requestOf` of the contract is the inverse of what the server reads from a request. */

let received: Call | undefined
const app = fastify({ routerOptions: { maxParamLength: 16 * 1024 } })
acceptJson(app)
app.decorateRequest('client', '')
mountRest(app, {
  isSecure: false,
  ownOrigins: new Set(),
  execute: async (call) => {
    received = call
    return { status: 200, body: {}, headers: {} }
  },
})
afterAll(() => app.close())

/** What the server reads from the request, after the parsing of URLs that `fetch` does. */
async function read({ method, path, headers, body }: HttpRequest): Promise<Call> {
  received = undefined
  const { pathname, search } = new URL(path, 'http://localhost')
  const reply = await app.inject({
    method,
    url: pathname + search,
    headers: { ...headers },
    ...(body !== undefined && { payload: body }),
  })
  if (received === undefined) throw new Error(`${method} ${path}: ${reply.statusCode} ${reply.body}`)
  return received
}

/** JSON has neither -0 nor undefined. */
const asJson = (input: object): Record<string, unknown> => JSON.parse(JSON.stringify(input))

const RUNS = 20

const accepted = (operation: Operation, input: unknown) => operation.input.parse(input)

describe.each(operationList)('$id', (operation) => {
  test('the server reads the input that the request was built from', async () => {
    await fc.assert(
      fc.asyncProperty(validInputs(operation), async (input) => {
        fc.pre(!Object.values(input).some((value) => value === '.' || value === '..'))
        const sent = asJson(input)
        const call = await read(requestOf(operation, sent))
        expect(call.operation.id).toBe(operation.id)
        expect(accepted(operation, call.input)).toEqual(accepted(operation, sent))
      }),
      { numRuns: RUNS },
    )
  })
})

const WALLET = { wallet: '0xabc', signature: '0xdef', signedAtMs: 1_700_000_000_000, chain: 'base' }
const order_id = 'ord_1700000000000_00000000000000000'
const service_id = 'svc_1700000000000_00000000000000000'

const callOf = (operation: Operation, input: Record<string, unknown>, options: RequestOptions) =>
  read(requestOf(operation, input, options))

test.each([
  ['in the body of a POST', operations.payService, { service_id }],
  ['in the body of a DELETE', operations.deleteService, { service_id }],
])('a wallet signature is sent %s, and is not part of the input', async (_, operation, input) => {
  const call = await callOf(operation, input, { wallet: WALLET })
  expect(call.credentials).toEqual({ wallet: WALLET })
  expect(call.input).toEqual(input)
})

test('a wallet signature of a GET is sent in headers', async () => {
  const call = await callOf(operations.getOrder, { order_id }, { wallet: WALLET })
  expect(call.credentials).toEqual({ wallet: { ...WALLET, signedAtMs: String(WALLET.signedAtMs) } })
})

test('bearer, payment and Idempotency-Key are sent in headers', async () => {
  const payment = { payment: '0x1', network: 'alt-mainnet', claim: 'secret', signature: 'signed' }
  const call = await callOf(
    operations.payService,
    { service_id },
    { bearer: 'market_1', payment, idempotencyKey: 'key-1' },
  )
  expect(call).toMatchObject({
    credentials: { bearer: 'market_1' },
    payment: { ...payment, fields: {} },
    idempotencyKey: 'key-1',
  })
})

test('me as agent_id stays, and undefined fields are not sent', async () => {
  const { path } = requestOf(operations.listAgentOrders, { agent_id: 'me', status: undefined })
  expect(path).toBe('/api/agents/me/orders')
})

test.each(['', '.', '..', undefined])('path: %j cannot be sent, because it leads to another path', (id) => {
  expect(() => requestOf(operations.getOrder, { order_id: id })).toThrow(UnsendableError)
})

test.each(['a/b', '../x', '%2e', 'ü ?#', '\ud800'])('path: %j stays one segment', async (id) => {
  const call = await callOf(operations.getOrder, { order_id: id }, {})
  expect(call.input).toEqual({ order_id: id.toWellFormed() })
})

test('headers: a line break cannot be sent', () => {
  expect(() => requestOf(operations.getOrder, { order_id }, { idempotencyKey: 'a\nb' })).toThrow(
    'Idempotency-Key must have printable ASCII characters only',
  )
})
