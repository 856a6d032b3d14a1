import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { SERVICE, serviceOf } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (agentId: string) => `/api/agents/${agentId}/services`
const create = (agentId: string, body: unknown, ask?: RequestOptions) =>
  market.client().post(pathOf(agentId), body, ask)

commonWriteErrors({
  market: () => market,
  operation: operations.createService,
  good: async () => {
    const agent = await makeOwnedAgent(market)
    return { path: pathOf(agent.id), body: SERVICE, ask: { bearer: agent.apiKey } }
  },
  other: (call) => ({ ...call, body: { ...SERVICE, title: 'A review of two pull requests' } }),
})

test('201: with the agent’s API key; omitted fields have defaults', async () => {
  const agent = await makeOwnedAgent(market)
  const { status, body } = await create(agent.id, SERVICE, { bearer: agent.apiKey })
  expect(status).toBe(201)
  const made = { id: body.data.id, slug: 'a-review-of-one-pull-request', agentId: agent.id }
  expect(body).toEqual({ success: true, data: { ...serviceOf(made), payable_on: [] } })
  expect(body.data.id).toMatch(/^svc_\d{13}_[0-9a-z]{17}$/)
})

test('201: stores every field', async () => {
  const agent = await makeOwnedAgent(market)
  const fields = {
    category: 'video_gen',
    title: 'Ten short clips a week',
    description: 'Ten vertical clips of eight seconds, cut to your music, every week anew.',
    price_type: 'weekly',
    price_usd: '49.123456',
    turnaround_hours: 720,
    deliverables: ['ten clips', 'their project files'],
    demo_url: 'https://demo.example/reel?x=1',
    quota_limit: 10,
    max_revisions: 0,
    requirement_fields: [
      { label: 'Music', type: 'url', required: true, placeholder: 'https://…' },
      { label: 'Mood', type: 'select', required: false, options: ['calm', 'loud'] },
    ],
  }
  const { body } = await create(agent.id, fields, { bearer: agent.apiKey })
  const made = { id: body.data.id, slug: 'ten-short-clips-a-week', agentId: agent.id }
  expect(body.data).toEqual({ ...serviceOf(made, fields), payable_on: [] })
})

test('201: a price is a string or a number; a quote does not need one', async () => {
  const agent = await makeOwnedAgent(market)
  const ask = { bearer: agent.apiKey }
  const priceOf = async (fields: object) =>
    (await create(agent.id, { ...SERVICE, ...fields }, ask)).body.data.price_usd
  expect(await priceOf({ price_usd: 0.1 })).toBe('0.10')
  expect(await priceOf({ price_usd: 1_000_000 })).toBe('1000000.00')
  expect(await priceOf({ price_usd: '0.100001' })).toBe('0.100001')
  expect(await priceOf({ price_type: 'quote', price_usd: undefined })).toBeNull()
  expect(await priceOf({ price_type: 'quote', price_usd: '5' })).toBe('5.00')
})

test('400: a price below the minimum of 0.10, for every price type', async () => {
  const agent = await makeOwnedAgent(market)
  for (const fields of [
    { price_usd: '0.000001' },
    { price_usd: '0.099999' },
    { price_usd: '0.05', price_type: 'quote' },
  ]) {
    const { status, body } = await create(agent.id, { ...SERVICE, ...fields }, { bearer: agent.apiKey })
    expect({ status, details: body.details }).toEqual({
      status: 400,
      details: [{ path: 'price_usd', message: 'must be at least 0.10' }],
    })
  }
})

test('201: by the owner wallet, and by the user who linked it', async () => {
  const agent = await makeOwnedAgent(market)
  const proof = await signed(agent.owner, `services.create:${agent.id}`, market.now())
  expect((await create(agent.id, { ...SERVICE, ...proof })).status).toBe(201)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await create(agent.id, SERVICE, { bearer: token })).status).toBe(201)
})

test('201: a service of an agent without an owner is listed once the agent has one', async () => {
  const hidden = await makeAgent(market)
  const { body } = await create(hidden.id, SERVICE, { bearer: hidden.apiKey })
  expect(body.data.marketable).toBe(false)
  const read = () => market.client().get(`/api/services/${body.data.id}`)
  const browse = () => market.client().get(`/api/services?agent_id=${hidden.id}`)
  expect((await read()).body.data.marketable).toBe(false)
  expect((await browse()).body.data).toEqual([])
  const { token } = await makeUser(market)
  await market.client().post('/api/agents/link', { api_key: hidden.apiKey }, { bearer: token })
  expect((await read()).body.data).toMatchObject({ ...body.data, marketable: true })
  expect((await browse()).body.data).toHaveLength(1)
})

test('201: me is the agent of the API key', async () => {
  const agent = await makeAgent(market)
  const { status, body } = await create('me', SERVICE, { bearer: agent.apiKey })
  expect([status, body.data.agent_id]).toEqual([201, agent.id])
})

test('400: each field outside its limits, and invalid combinations of fields', async () => {
  const agent = await makeOwnedAgent(market)
  const wrong = async (path: string, fields: Record<string, unknown>) => {
    const reply = await create(agent.id, { ...SERVICE, ...fields }, { bearer: agent.apiKey })
    invalid(reply, path)
  }
  for (const price_usd of [
    '0',
    0,
    '-1',
    -1,
    '1.0000001',
    0.1 + 0.2,
    '1000000.01',
    1e7,
    '1e3',
    'free',
    '',
    true,
  ])
    await wrong('price_usd', { price_usd })
  await wrong('price_usd', { price_usd: undefined })
  await wrong('price_usd', { price_usd: null })
  await wrong('quota_limit', { price_type: 'weekly' })
  await wrong('quota_limit', { quota_limit: 100_001 })
  await wrong('category', { category: 'dancing' })
  await wrong('price_type', { price_type: 'yearly' })
  await wrong('title', { title: 'Four' })
  await wrong('title', { title: 'x'.repeat(81) })
  await wrong('description', { description: 'x'.repeat(39) })
  await wrong('description', { description: 'x'.repeat(1_001) })
  await wrong('turnaround_hours', { turnaround_hours: 0 })
  await wrong('turnaround_hours', { turnaround_hours: 721 })
  await wrong('deliverables', { deliverables: Array.from({ length: 11 }, () => 'a file') })
  await wrong('demo_url', { demo_url: 'http://demo.example/' })
  await wrong('max_revisions', { max_revisions: 11 })
  const field = { label: 'Size', type: 'text' }
  await wrong('requirement_fields', {
    requirement_fields: Array.from({ length: 13 }, (_, at) => ({ ...field, label: `Size ${at}` })),
  })
  await wrong('requirement_fields.1.label', { requirement_fields: [field, { ...field, label: 'SIZE' }] })
  await wrong('requirement_fields.0.options', { requirement_fields: [{ ...field, type: 'select' }] })
  await wrong('requirement_fields.0.options', { requirement_fields: [{ ...field, options: ['S'] }] })
  await wrong('requirement_fields.0.type', { requirement_fields: [{ ...field, type: 'colour' }] })
  await wrong('requirement_fields.0', { requirement_fields: [{ ...field, id: 1 }] })
  const other = await create('you', SERVICE, { bearer: agent.apiKey })
  invalid(other, 'agent_id')
})

test('401: a signature that is expired, from the future, for another purpose, or of another wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, `services.create:${agent.id}`, market.now()))
    rejected(await create(agent.id, { ...SERVICE, ...proof }), 401, code)
})

test('403: another agent, user or wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const otherUser = await makeUser(market)
  const other = await makeOwnedAgent(market)
  for (const bearer of [otherUser.token, other.apiKey])
    rejected(await create(agent.id, SERVICE, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), `services.create:${agent.id}`, market.now()))
  rejected(await create(agent.id, SERVICE, { headers }), 403, 'not_your_agent')
  rejected(await create(agent.id, SERVICE, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const hidden = await makeAgent(market)
  rejected(await create(hidden.id, SERVICE, { bearer: token }), 403, 'not_your_agent')
  rejected(await create(MISSING, SERVICE, { bearer: token }), 404, 'agent_not_found')
})

test('409: too_many_services for the 201st active service', async () => {
  const agent = await makeOwnedAgent(market)
  await market.db.updateTable('agents').set({ service_count: 200 }).where('id', '=', agent.id).execute()
  const reply = await create(agent.id, SERVICE, { bearer: agent.apiKey })
  rejected(reply, 409, 'too_many_services')
  expect(reply.body.error).toContain('DELETE /api/services/{service_id}')
})
