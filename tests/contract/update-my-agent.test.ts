import { operations } from '@market/contract/operations'
import { DAY, HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ownAgent, WEBHOOK_SECRET } from '../support/shapes.ts'

const PATH = '/api/agents/me'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const patch = (agent: { apiKey: string }, body: unknown, headers: Record<string, string> = {}) =>
  market.client().patch(PATH, body, { bearer: agent.apiKey, headers })

/** A time so many days from now, within the length of a test. */
const inDays = (days: number) =>
  expect.toSatisfy((at: string) => Math.abs(Date.parse(at) - market.now() - days * DAY) < HOUR)

commonWriteErrors({
  market: () => market,
  operation: operations.updateMyAgent,
  good: async () => ({
    path: PATH,
    body: { description: 'Changed by the agent itself.' },
    ask: { bearer: (await makeAgent(market)).apiKey },
  }),
  other: (call) => ({ ...call, body: { description: 'Changed in another way.' } }),
})

test('200: changes only the given field', async () => {
  const agent = await makeAgent(market)
  const payout_wallet = (await solanaSigner()).address
  const payout_address_base = evmSigner().address
  let expected: Record<string, unknown> = ownAgent(agent)
  for (const change of [
    { name: someName() },
    { description: 'Does something else from now on.' },
    { capabilities: ['seo', 'trading'] },
    { ai_models: ['model-a', 'model-b'] },
    { avatar_url: 'https://other.example/a.png' },
    { payout_chain: 'base' },
    { payout_wallet, payout_address_base },
  ]) {
    expected = { ...expected, ...change }
    const reply = await patch(agent, change)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ success: true, data: expected })
  }
  const { body } = await market.client().get(PATH, { bearer: agent.apiKey })
  expect(body.data).toEqual(expected)

  const cleared = { payout_chain: null, payout_wallet: null, payout_address_base: null }
  const reply = await patch(agent, { ...cleared, avatar_url: null })
  const pending_payout = { ...cleared, effective_at: inDays(1) }
  expect(reply.body.data).toEqual({ ...expected, avatar_url: null, pending_payout })
})

test('200: an address on another network is pending when an agent without an owner has an address', async () => {
  const agent = await makeAgent(market)
  const payout_wallet = (await solanaSigner()).address
  const payout_address_base = evmSigner().address
  const first = await patch(agent, { payout_wallet })
  expect(first.body.data).toMatchObject({ payout_wallet, pending_payout: null })
  const second = await patch(agent, { payout_address_base })
  expect(second.body.data).toMatchObject({
    payout_wallet,
    payout_address_base: null,
    pending_payout: { payout_wallet, payout_address_base, effective_at: inDays(1) },
  })
})

test('200: the first payout address with the owner’s signature is in effect at once, the next one is pending', async () => {
  const agent = await makeAgent(market)
  const owner = evmSigner()
  const [first, second] = [evmSigner().address, evmSigner().address]
  const proof = await signed(owner, `agents.owner:${agent.id}`, market.now())
  const both = { owner_wallet: owner.address, payout_address_base: first, ...proof }
  expect((await patch(agent, both)).body.data).toMatchObject({
    payout_address_base: first,
    pending_payout: null,
  })
  const changed = await patch(agent, { payout_address_base: second })
  expect(changed.body.data).toMatchObject({
    payout_address_base: first,
    pending_payout: { payout_address_base: second, effective_at: inDays(1) },
  })
  const { body } = await market.client().get(PATH, { bearer: agent.apiKey })
  expect(body.data).toEqual(changed.body.data)
})

test('200: keeps the slug, ignores an empty change and removes duplicates', async () => {
  const agent = await makeAgent(market)
  const before = await market.client().get(PATH, { bearer: agent.apiKey })
  expect((await patch(agent, {})).body).toEqual(before.body)
  const renamed = await patch(agent, { name: someName(), capabilities: ['seo', 'seo'] })
  expect(renamed.body.data).toMatchObject({ slug: agent.slug, capabilities: ['seo'] })
  expect(Date.parse(renamed.body.data.updated_at)).toBeGreaterThan(Date.parse(before.body.data.updated_at))
})

test('200: creates the webhook secret with the first endpoint and keeps it', async () => {
  const agent = await makeAgent(market)
  const first = await patch(agent, { endpoint_url: 'https://hooks.example/one' })
  const secret = first.body.data.webhook_secret
  expect(secret).toMatch(WEBHOOK_SECRET)
  for (const endpoint_url of ['https://other.example/two', null, 'https://hooks.example/three']) {
    const { body } = await patch(agent, { endpoint_url })
    expect(body.data).toMatchObject({ endpoint_url, webhook_secret: secret })
  }
})

test('200: an owner wallet with its signature, in the body or in headers, makes the agent public', async () => {
  for (const inHeaders of [false, true]) {
    const agent = await makeAgent(market)
    const owner = inHeaders ? await solanaSigner() : evmSigner()
    const proof = await signed(owner, `agents.owner:${agent.id}`, market.now())
    const reply = inHeaders
      ? await patch(agent, { owner_wallet: owner.address }, asHeaders(proof))
      : await patch(agent, { owner_wallet: owner.address, ...proof })
    expect(reply.status).toBe(200)
    const owned = { owner_wallet: owner.address, marketable: true, verified: 1 }
    expect(reply.body.data).toEqual(ownAgent(agent, owned))
    expect((await market.client().get(`/api/agents/${agent.id}`)).status).toBe(200)
  }
})

test('400: reports each field that is out of bounds', async () => {
  const agent = await makeAgent(market)
  const both = await patch(agent, { name: 'ab', description: 'short', slug: 'mine' })
  invalid(both, 'name', 'description', '')
  for (const [path, value] of [
    ['name', null],
    ['description', null],
    ['capabilities', null],
    ['capabilities.0', ['dancing']],
    ['ai_models.0', ['']],
    ['avatar_url', 'ftp://other.example/a'],
    ['endpoint_url', 'http://hooks.example/'],
    ['payout_chain', 'bitcoin'],
    ['payout_wallet', evmSigner().address],
    ['payout_address_base', '0x12'],
    ['owner_wallet', null],
  ] as const) {
    const reply = await patch(agent, { [path.split('.')[0] ?? '']: value })
    expect(reply.body.details?.[0]?.path).toBe(path)
    expect(reply.status).toBe(400)
  }
})

test('400: an invalid payout address, and a private endpoint', async () => {
  const agent = await makeAgent(market)
  const unpayable = {
    payout_wallet: '11111111111111111111111111111111',
    payout_address_base: `0x${'0'.repeat(40)}`,
  }
  invalid(await patch(agent, unpayable), 'payout_wallet', 'payout_address_base')
  for (const host of ['localhost', '192.168.1.1', '169.254.169.254', '[fd00::1]']) {
    rejected(await patch(agent, { endpoint_url: `https://${host}/` }), 400, 'endpoint_not_public')
  }
  rejected(await patch(agent, { endpoint_url: 'https://unknown.example/' }), 400, 'endpoint_not_resolved')
})

test('400: an owner_wallet other than the wallet that signs', async () => {
  const agent = await makeAgent(market)
  const proof = await signed(evmSigner(), `agents.owner:${agent.id}`, market.now())
  invalid(await patch(agent, { owner_wallet: evmSigner().address, ...proof }), 'owner_wallet')
})

test('401: an owner_wallet without a signature, or with one for another agent', async () => {
  const agent = await makeAgent(market)
  const owner = await solanaSigner()
  const owner_wallet = owner.address
  rejected(await patch(agent, { owner_wallet }), 401, 'signature_missing')
  rejected(await patch(agent, { owner_wallet, wallet: owner_wallet }), 401, 'signature_missing')
  const other = await makeAgent(market)
  const forOther = await signed(owner, `agents.owner:${other.id}`, market.now())
  rejected(await patch(agent, { owner_wallet, ...forOther }), 401, 'bad_signature')
  for (const [code, proof] of await badSignatures(owner, `agents.owner:${agent.id}`, market.now())) {
    rejected(await patch(agent, { owner_wallet, ...proof }), 401, code)
  }
  const { body } = await market.client().get(PATH, { bearer: agent.apiKey })
  expect(body.data.owner_wallet).toBeNull()
})

test('401: the owner’s signature is used a second time', async () => {
  const agent = await makeAgent(market)
  const owner = evmSigner()
  const proof = await signed(owner, `agents.owner:${agent.id}`, market.now())
  expect((await patch(agent, { owner_wallet: owner.address, ...proof })).status).toBe(200)
  rejected(await patch(agent, { owner_wallet: owner.address, ...proof }), 401, 'signature_used')
})

test('403: a user or a wallet without the agent’s key', async () => {
  const { token } = await makeUser(market)
  const change = { description: 'Changed by somebody else.' }
  rejected(await market.client().patch(PATH, change, { bearer: token }), 403, 'wrong_credential')
  const proof = await signed(evmSigner(), 'agents.owner:', market.now())
  rejected(await market.client().patch(PATH, { ...change, ...proof }), 403, 'wrong_credential')
})

test('403: a payout setting while only the owner may change it', async () => {
  const agent = await makeOwnedAgent(market)
  const proof = await signed(agent.owner, `agents.update:${agent.id}`, market.now())
  const on = await market.client().patch(`/api/agents/${agent.id}`, { payout_by_owner_only: true, ...proof })
  expect(on.body.data.payout_by_owner_only).toBe(true)
  const change = { payout_address_base: evmSigner().address }
  rejected(await patch(agent, change), 403, 'payout_by_owner_only')
  expect((await patch(agent, { description: 'Changed by the agent itself.' })).status).toBe(200)
})

test('409: an agent that already has an owner wallet or user', async () => {
  const byWallet = await makeOwnedAgent(market)
  const { token } = await makeUser(market)
  const byPerson = await makeAgent(market, { idp_access_token: token })
  for (const agent of [byWallet, byPerson]) {
    const owner = evmSigner()
    const proof = await signed(owner, `agents.owner:${agent.id}`, market.now())
    rejected(await patch(agent, { owner_wallet: owner.address, ...proof }), 409, 'owner_is_set')
  }
})

test('409: a second change of the name within 7 days, with the time when it is possible again', async () => {
  const agent = await makeAgent(market)
  expect((await patch(agent, { name: someName() })).status).toBe(200)
  const reply = await patch(agent, { name: someName() })
  rejected(reply, 409, 'renamed_recently', { possible_at: inDays(7) })
})

test('409: the name of another agent, or a look-alike', async () => {
  const held = await makeAgent(market)
  const agent = await makeAgent(market)
  rejected(await patch(agent, { name: held.name }), 409, 'name_taken')
  rejected(await patch(agent, { name: held.name.toUpperCase() }), 409, 'name_taken')
  expect((await patch(agent, { name: agent.name.toUpperCase() })).status).toBe(200)
})
