import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOrderWorld } from '../orders/order-world.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { BRIEF, orderOf } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const PATH = '/api/orders'

const NO_SERVICE = `svc_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const create = (body: unknown, ask?: RequestOptions) => market.client().post(PATH, body, ask)
const offered = async (fields: Record<string, unknown> = {}) => {
  const seller = await makeOwnedAgent(market)
  return { seller, service: await makeService(market, seller, fields) }
}
const asked = (service: { id: string }, fields: Record<string, unknown> = {}) => ({
  service_id: service.id,
  brief: BRIEF,
  ...fields,
})

commonWriteErrors({
  market: () => market,
  operation: operations.createOrder,
  good: async () => {
    const { service } = await offered()
    return { path: PATH, body: asked(service), ask: { bearer: (await makeOwnedAgent(market)).apiKey } }
  },
  other: (call) => ({ ...call, body: { ...(call.body as object), brief: 'Something else, if you please.' } }),
})

test('201: an order of a service with a price is quoted and payable immediately', async () => {
  const { seller, service } = await offered()
  const signer = evmSigner()
  const proof = await signed(signer, `orders.create:${service.id}`, market.now())
  const { status, body } = await create({ ...asked(service), ...proof })
  expect(status).toBe(201)
  expect(body).toEqual({
    success: true,
    data: orderOf(
      { id: body.data.id, serviceId: service.id, agentId: seller.id },
      { status: 'quoted', price_usd: '12.50', client_wallet: signer.address, payment: [] },
    ),
  })
})

test('409 price_below_minimum: a service whose price is below a minimum that was raised', async () => {
  const { seller, service } = await offered()
  await market.db.updateTable('listings').set({ price_micros: 1n }).where('id', '=', service.id).execute()
  const bearer = (await makeOwnedAgent(market)).apiKey
  const { status, body } = await create(asked(service), { bearer })
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'price_below_minimum' })
  const path = `/api/services/${service.id}`
  expect(
    (await market.client().patch(path, { title: 'Another title' }, { bearer: seller.apiKey })).status,
  ).toBe(400)
  await market.client().patch(path, { price_usd: '0.10' }, { bearer: seller.apiKey })
  expect((await create(asked(service), { bearer })).status).toBe(201)
})

test('201: an order of a service without a price is pending_quote', async () => {
  const { service } = await offered({ price_type: 'quote', price_usd: undefined })
  const { token } = await makeUser(market)
  const { status, body } = await create(asked(service), { bearer: token })
  expect(status).toBe(201)
  expect(body.data).toMatchObject({ status: 'pending_quote', price_usd: null, client_wallet: null })
})

test('201: stores every field and emits an event to the agent', async () => {
  const { seller, service } = await offered({
    requirement_fields: [
      { label: 'Branch', type: 'text', required: true },
      { label: 'Mood', type: 'select', required: false, options: ['calm', 'loud'] },
    ],
  })
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const fields = {
    reference_urls: ['https://hooks.example/a'],
    reference_images: ['https://hooks.example/b.png'],
    requirement_answers: { Branch: 'main', Mood: 'calm' },
    private: true,
    client_wallet: wallet.address,
  }
  const given = { ...asked(service, fields), payment_chain: 'base' }
  const { status, body } = await create(given, { bearer: token })
  expect(status).toBe(201)
  expect(body.data).toMatchObject(fields)
  const events = await market.client().get('/api/events', { bearer: seller.apiKey })
  expect(events.body.data).toMatchObject([
    {
      event: 'order.created',
      order_id: body.data.id,
      data: {
        service_id: service.id,
        brief: BRIEF,
        reference_images: fields.reference_images,
        requirement_answers: fields.requirement_answers,
        status: 'quoted',
      },
    },
  ])
})

test('400: names each field that is outside its limits', async () => {
  const { service } = await offered()
  const ask = { bearer: (await makeOwnedAgent(market)).apiKey }
  invalid(await create({}, ask), 'service_id')
  invalid(await create(asked(service, { brief: 'too short' }), ask), 'brief')
  invalid(await create(asked(service, { brief: 'x'.repeat(3_001) }), ask), 'brief')
  const urls = Array.from({ length: 6 }, (_, n) => `https://hooks.example/${n}`)
  invalid(await create(asked(service, { reference_urls: urls }), ask), 'reference_urls')
  invalid(await create(asked(service, { reference_images: urls.slice(2) }), ask), 'reference_images')
  invalid(await create(asked(service, { client_wallet: 'mine' }), ask), 'client_wallet')
  invalid(await create(asked(service, { payment_chain: 'paper' }), ask), 'payment_chain')
})

test('400: requirement answers that are missing or of the wrong type, and too many or too long further ones', async () => {
  const { service } = await offered({
    requirement_fields: [
      { label: 'Branch', type: 'text', required: true },
      { label: 'Link', type: 'url', required: false },
      { label: 'Mood', type: 'select', required: false, options: ['calm', 'loud'] },
      { label: 'Copies', type: 'number', required: false },
    ],
  })
  const ask = { bearer: (await makeOwnedAgent(market)).apiKey }
  const answer = (requirement_answers: Record<string, unknown>) =>
    create(asked(service, { requirement_answers }), ask)
  invalid(await answer({}), 'requirement_answers.Branch')
  invalid(await answer({ Branch: '' }), 'requirement_answers.Branch')
  invalid(await answer({ Branch: 'main', Colour: 'x'.repeat(501) }), 'requirement_answers.Colour')
  invalid(await answer({ Branch: 'main', Colour: { deep: 'a\u0000b' } }), 'requirement_answers.Colour')
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`Further ${n}`, n]))
  invalid(await answer({ Branch: 'main', ...many }), 'requirement_answers.Further 20')
  invalid(
    await answer({ Branch: 'two\nlines', Link: 'ftp://x', Mood: 'sad', Copies: 'many' }),
    'requirement_answers.Branch',
    'requirement_answers.Link',
    'requirement_answers.Mood',
    'requirement_answers.Copies',
  )
})

test('201: without a brief, and with answers that the service does not ask for', async () => {
  const { seller, service } = await offered()
  const ask = { bearer: (await makeOwnedAgent(market)).apiKey }
  const requirement_answers = {
    size: '512',
    palette: { main: 'blue', others: ['red', 7, null] },
    urgent: true,
  }
  const { status, body } = await create({ service_id: service.id, requirement_answers }, ask)
  expect([status, body.data.brief]).toEqual([201, ''])
  const events = await market.client().get('/api/events', { bearer: seller.apiKey })
  expect(events.body.data[0].data).toMatchObject({ brief: '', requirement_answers })
})

test('201: a service of an agent without an owner can be ordered by its id', async () => {
  const service = await makeService(market, await makeAgent(market))
  const { status } = await create(asked(service), { bearer: (await makeOwnedAgent(market)).apiKey })
  expect(status).toBe(201)
})

test('401: a signature for reads, or for another service, does not order', async () => {
  const { service } = await offered()
  const signer = await solanaSigner()
  for (const purpose of ['session', `orders.create:${NO_SERVICE}`]) {
    const reply = await create({ ...asked(service), ...(await signed(signer, purpose, market.now())) })
    rejected(reply, 401, 'bad_signature', { expected_purpose: `orders.create:${service.id}` })
  }
})

test('400: wallet_not_proven when client_wallet neither signed nor is linked', async () => {
  const { service } = await offered()
  const { token } = await makeUser(market)
  const reply = await create(asked(service, { client_wallet: evmSigner().address }), { bearer: token })
  rejected(reply, 400, 'wallet_not_proven', {
    details: [{ path: 'client_wallet', message: expect.any(String) }],
  })
})

test('201: client_wallet is proven by its signature beside the access token of a user it is not linked to', async () => {
  const { service } = await offered()
  const { token } = await makeUser(market)
  const signer = evmSigner()
  const proof = await signed(signer, `orders.create:${service.id}`, market.now())
  const body = { ...asked(service, { client_wallet: signer.address }), ...proof }
  const reply = await create(body, { bearer: token })
  expect([reply.status, reply.body.data.client_wallet]).toEqual([201, signer.address])
  expect((await market.client().get(`${PATH}/${reply.body.data.id}`, { bearer: token })).status).toBe(200)
  rejected(await create(body, { bearer: token }), 401, 'signature_used')
})

test('401: a wrong signature beside a valid access token', async () => {
  const { service } = await offered()
  const { token } = await makeUser(market)
  const proof = await signed(await solanaSigner(), 'session', market.now())
  rejected(await create({ ...asked(service), ...proof }, { bearer: token }), 401, 'bad_signature', {
    expected_purpose: `orders.create:${service.id}`,
  })
})

test('400: an order by the agent, its owner, or another agent of the owner', async () => {
  const { seller, service } = await offered()
  const sibling = await makeOwnedAgent(market, {}, seller.owner)
  const { token } = await makeUser(market, { wallets: [seller.owner.address] })
  const proof = await signed(seller.owner, `orders.create:${service.id}`, market.now())
  rejected(await create(asked(service), { bearer: seller.apiKey }), 400, 'own_service')
  rejected(await create(asked(service), { bearer: sibling.apiKey }), 400, 'own_service')
  rejected(await create(asked(service), { bearer: token }), 400, 'own_service')
  rejected(await create({ ...asked(service), ...proof }), 400, 'own_service')
  // An agent of an account that the seller's owner wallet is linked to.
  await market.client().post('/api/auth/user', undefined, { bearer: token })
  const ofAccount = await makeAgent(market, { idp_access_token: token })
  rejected(await create(asked(service), { bearer: ofAccount.apiKey }), 400, 'own_service')
})

test('403: an admin key', async () => {
  const { service } = await offered()
  rejected(await create(asked(service), { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('402: returns the payment requirements when the request has no credentials', async () => {
  const world = await startOrderWorld()
  try {
    const service = await makeService(world.market, await makeOwnedAgent(world.market))
    const wanted = { service_id: service.id, brief: 'Read the branch called blue.' }
    const reply = await world.market.client().post('/api/orders', wanted)
    expect(reply).toMatchObject({ status: 402, body: { x402Version: 1, accepts: [expect.anything()] } })
  } finally {
    await world.stop()
  }
})

test('404: a missing service, and an inactive service', async () => {
  const { seller, service } = await offered()
  const ask = { bearer: (await makeAgent(market)).apiKey }
  rejected(await create(asked({ id: NO_SERVICE }), ask), 404, 'service_not_found')
  await market.client().send('DELETE', `/api/services/${service.id}`, { bearer: seller.apiKey })
  rejected(await create(asked(service), ask), 404, 'service_not_found')
})
