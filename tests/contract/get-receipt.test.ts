import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '@market/contract/operations'
import { verifyReceipt } from '@market/sdk'
import { testReceiptSigner } from '@market/testing/receipts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, PRICE, startOrderWorld } from '../orders/order-world.ts'
import { cliHere } from '../support/cli.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { NO_ORDER } from '../support/orders.ts'
import { finalPayment, keysOf } from '../support/receipts.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, BASE_URL } from '../support/settings.ts'
import { auditOf } from '../support/treasury.ts'
import { uploadFile } from '../support/uploads.ts'
import type { Subject } from '../support/valid-request.ts'

const LINK = 'https://hooks.example/x'
const HASH = /^0x[0-9a-f]{64}$/

let world: OrderWorld
let parties: Parties
let orderId: string
let file: Awaited<ReturnType<typeof uploadFile>>
let folder: string
beforeAll(async () => {
  world = await startOrderWorld()
  folder = mkdtempSync(join(tmpdir(), 'market-'))
  parties = await world.newParties()
  orderId = await world.walk(parties, 'in_progress')
  const bearer = { bearer: parties.seller.apiKey }
  file = await uploadFile(world.market, bearer)
  await world.deliver(bearer.bearer, orderId, {
    deliverables: [
      { type: 'image', url: file.id, title: 'The picture', sha256: '0'.repeat(64) },
      { type: 'text', content: 'Ready, with an é.' },
      { type: 'link', url: LINK, sha256: '1'.repeat(64) },
    ],
  })
  await finalPayment(world.market, orderId)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world.stop()
})

const pathOf = (id: string) => `/api/orders/${id}/receipt`
const read = (id: string, ask: RequestOptions) => world.market.client().get(pathOf(id), ask)
const asSeller = () => ({ bearer: parties.seller.apiKey })
const asBuyer = async () => ({ headers: await parties.buyer.headers() })

const subject: Subject = {
  market: () => world.market,
  operation: operations.getReceipt,
  good: async () => ({ path: pathOf(orderId), ask: asSeller() }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(NO_ORDER))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('200: parties, service, amounts, payment, times and hashes of the deliverables', async () => {
  const { status, body } = await read(orderId, await asBuyer())
  expect(status).toBe(200)
  const { order } = (await world.market.client().get(`/api/orders/${orderId}`, await asBuyer())).body.data
  const { buyer, seller } = parties
  const none = { title: null, media_type: null, file_sha256: null, text_sha256: null, url_sha256: null }
  expect(body.data.receipt).toEqual({
    iss: BASE_URL,
    sub: orderId,
    iat: Math.floor(Date.parse(order.updated_at) / 1_000),
    issued_to: 'buyer',
    final: false,
    order: {
      status: 'delivered',
      outcome: null,
      created_at: order.created_at,
      paid_at: order.paid_at,
      delivered_at: order.delivered_at,
      closed_at: null,
    },
    service: { id: seller.serviceId, bounty_id: null, title: order.service_title },
    buyer: { id: `wallet:${buyer.address.toLowerCase()}`, wallet: buyer.address, payer_proven: true },
    agent: { id: seller.id, slug: seller.slug, name: seller.name },
    amounts: {
      ...{ paid_usd: '25.00', price_usd: '25.00', surplus_usd: '0.00' },
      ...{ agent_usd: null, fee_usd: null, refund_usd: null },
    },
    transfers: [
      {
        ...{ direction: 'in', kind: 'payment', network: 'base-mainnet', amount_usd: '25.00' },
        asset: { currency: 'USDC', address: world.chain.usdc },
        wallet: buyer.address,
        tx_hash: expect.stringMatching(HASH),
        at: expect.any(String),
      },
    ],
    // What the agent says of the hashes is not in the receipt.
    deliverables: [
      { ...none, type: 'image', title: 'The picture', media_type: 'image/png', file_sha256: file.sha256 },
      { ...none, type: 'text', text_sha256: sha256('Ready, with an é.') },
      { ...none, type: 'link', url_sha256: sha256(LINK) },
    ],
    deliverables_total: 3,
  })
})

test('200: the same text each time, which the published key verifies', async () => {
  const [first, second] = [await read(orderId, asSeller()), await read(orderId, asSeller())]
  const { jws, receipt } = first.body.data
  expect(second.body.data.jws).toBe(jws)
  const { response, keys } = await keysOf(world.market)
  expect(response.headers.get('content-type')).toMatch('application/jwk-set+json')
  expect(response.headers.get('cache-control')).toBe('public, max-age=300')
  expect(Object.keys(keys[0] ?? {}).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  expect(await verifyReceipt(jws, { keys, issuer: BASE_URL })).toEqual(receipt)
})

test('200: the agent and its owner do not read who the buyer is beyond the wallet that paid', async () => {
  const { receipt } = (await read(orderId, asSeller())).body.data
  expect(receipt).toMatchObject({ issued_to: 'agent', buyer: { id: null, wallet: parties.buyer.address } })
})

test('200: an operator, whose read is in the audit log', async () => {
  const { receipt } = (await read(orderId, { bearer: ADMIN_KEY })).body.data
  expect(receipt).toMatchObject({ issued_to: 'operator', buyer: { id: expect.stringMatching(/^wallet:/) } })
  expect((await auditOf(world.market.db, orderId)).map(({ act }) => act)).toContain('order.read')
})

test('400: an invalid id', async () => {
  invalid(await read('nothing', asSeller()), 'order_id')
})

test('403: a cookie that another site sends', async () => {
  const cookie = `idp-token=${await world.market.idp.token({ sub: 'somebody' })}`
  rejected(await read(NO_ORDER, { headers: { cookie } }), 403, 'cross_site')
})

test('404: another agent, another user, another wallet, and a missing order', async () => {
  const other = await makeOwnedAgent(world.market)
  const { token } = await makeUser(world.market)
  const wallet = await (await world.newBuyer()).headers()
  for (const ask of [{ bearer: other.apiKey }, { bearer: token }, { headers: wallet }])
    rejected(await read(orderId, ask), 404, 'order_not_found')
  rejected(await read(NO_ORDER, asSeller()), 404, 'order_not_found')
})

test('409: no payment, and one that the chain can still reverse', async () => {
  const id = await world.walk(parties, 'accepted')
  rejected(await read(id, asSeller()), 409, 'order_not_paid')
  const escrow_tx_hash = await world.settled(parties.buyer, PRICE)
  await world.act(parties.buyer, id, 'pay', { escrow_tx_hash })
  rejected(await read(id, asSeller()), 409, 'payment_not_final')
  await finalPayment(world.market, id)
  expect((await read(id, asSeller())).status).toBe(200)
})

test('a receipt: is no credential', async () => {
  const { jws } = (await read(orderId, asSeller())).body.data
  rejected(await read(orderId, { bearer: jws }), 401, 'bad_token')
})

test('market receipt: gets it, and verifies it with the published keys or a copy of them', async () => {
  const cli = cliHere(folder, { MARKET_API_URL: world.market.url, MARKET_API_KEY: parties.seller.apiKey })
  const got = await cli.run(['receipt', 'get', orderId])
  expect(got).toMatchObject({ status: 0, error: '' })
  const [receiptFile, keysFile] = [join(folder, 'receipt.jws'), join(folder, 'jwks.json')]
  writeFileSync(receiptFile, got.out)
  writeFileSync(keysFile, JSON.stringify({ keys: (await keysOf(world.market)).keys }))
  const verify = ['receipt', 'verify', receiptFile, '--issuer', BASE_URL]
  expect(await cli.json(...verify)).toMatchObject({ ok: true, receipt: { sub: orderId } })
  // Nothing listens there: a copy of the keys needs no connection.
  const offline = cliHere(folder, { MARKET_API_URL: 'http://127.0.0.1:9' })
  const shown = await offline.run([...verify, '--jwks', keysFile])
  expect(shown).toMatchObject({ status: 0, error: '' })
  for (const text of ['The receipt is valid.', orderId, '25.00 USD', file.sha256, parties.seller.name])
    expect(shown.out).toContain(text)
  const problem = async (...args: string[]) => (await offline.error(args)).code
  expect(await problem('receipt', 'verify', receiptFile, '--jwks', keysFile)).toBe('wrong_issuer')
  writeFileSync(
    receiptFile,
    got.out.replace(/\.(.)/, (_, letter) => `.${letter === 'e' ? 'f' : 'e'}`),
  )
  expect(await problem(...verify, '--jwks', keysFile)).toBe('signature_wrong')
  writeFileSync(keysFile, JSON.stringify({ keys: testReceiptSigner().keys }))
  expect(await problem(...verify, '--jwks', keysFile)).toBe('unknown_key')
  writeFileSync(keysFile, '[]')
  expect(await problem(...verify, '--jwks', keysFile)).toBe('no_keys')
})
