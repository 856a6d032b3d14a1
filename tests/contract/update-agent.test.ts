import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { ownedAgent } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`
const CHANGE = { description: 'Changed by somebody who may.' }

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const patch = (id: string, body: unknown, ask?: RequestOptions) =>
  market.client().patch(`/api/agents/${id}`, body, ask)
const update = async (agent: { id: string }, signer: Parameters<typeof signed>[0]) =>
  signed(signer, `agents.update:${agent.id}`, market.now())

const subject: Subject = {
  market: () => market,
  operation: operations.updateAgent,
  good: async () => {
    const { token } = await makeUser(market)
    const { id } = await makeAgent(market, { idp_access_token: token })
    return { path: `/api/agents/${id}`, body: CHANGE, ask: { bearer: token } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, body: { description: 'Changed in another way.' } }),
})
rejectsWithoutProvider(subject, `/api/agents/${MISSING}`, CHANGE)

test('200: by the owning user; the response has no webhook secret', async () => {
  const { token } = await makeUser(market)
  const agent = await makeAgent(market, { idp_access_token: token })
  const change = { ...CHANGE, endpoint_url: 'https://hooks.example/in', payout_by_owner_only: true }
  const { status, body } = await patch(agent.id, change, { bearer: token })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: ownedAgent(agent, { ...change, marketable: true, verified: 1 }),
  })
})

test('200: by the owner wallet, signed in the body or in headers, and by the user who linked it', async () => {
  const agent = await makeOwnedAgent(market)
  const expected = ownedAgent(agent, {
    ...CHANGE,
    owner_wallet: agent.owner.address,
    marketable: true,
    verified: 1,
  })
  const inBody = await patch(agent.id, { ...CHANGE, ...(await update(agent, agent.owner)) })
  expect(inBody.body.data).toEqual(expected)
  const inHeaders = await patch(agent.id, CHANGE, { headers: asHeaders(await update(agent, agent.owner)) })
  expect(inHeaders.body.data).toEqual(expected)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await patch(agent.id, CHANGE, { bearer: token })).body.data).toEqual(expected)
})

test('200: by the agent itself, even while hidden', async () => {
  const agent = await makeAgent(market)
  const { status, body } = await patch(agent.id, CHANGE, { bearer: agent.apiKey })
  expect(status).toBe(200)
  expect(body.data).toEqual(ownedAgent(agent, CHANGE))
})

test('400: an invalid id, a field out of bounds, an owner, a private endpoint', async () => {
  const agent = await makeAgent(market)
  const ask = { bearer: agent.apiKey }
  for (const id of ['agt_', agent.slug]) invalid(await patch(id, CHANGE, ask), 'agent_id')
  invalid(await patch(agent.id, { name: 'x', description: '' }, ask), 'name', 'description')
  rejected(await patch(agent.id, { owner_wallet: evmSigner().address }, ask), 401, 'signature_missing')
  rejected(await patch(agent.id, { endpoint_url: 'https://10.1.2.3/' }, ask), 400, 'endpoint_not_public')
})

test('200: the owning user sets owner_wallet once, with the signature of a linked wallet', async () => {
  const [owner, other] = [await solanaSigner(), evmSigner()]
  const { token } = await makeUser(market, { wallets: [owner.address, other.address] })
  const agent = await makeAgent(market, { idp_access_token: token })
  const set = async (signer: { address: string; sign(message: string): Promise<string> }) =>
    patch(agent.id, { owner_wallet: signer.address, ...(await update(agent, signer)) }, { bearer: token })
  rejected(await set(evmSigner()), 400, 'two_credentials')
  rejected(
    await patch(agent.id, { owner_wallet: owner.address }, { bearer: token }),
    401,
    'signature_missing',
  )
  const broken = { ...(await update(agent, owner)), wallet_sig: (await update(agent, other)).wallet_sig }
  const wrong = await patch(agent.id, { owner_wallet: owner.address, ...broken }, { bearer: token })
  expect(wrong.status).toBe(401)
  const first = await set(owner)
  expect([first.status, first.body.data.owner_wallet]).toEqual([200, owner.address])
  rejected(await set(other), 409, 'owner_is_set')
})

test('400: an id in the body cannot select another agent', async () => {
  const agent = await makeAgent(market)
  const other = await makeAgent(market)
  const reply = await patch(agent.id, { ...CHANGE, agent_id: other.id }, { bearer: agent.apiKey })
  expect(reply.body.data.id).toBe(agent.id)
  const untouched = await market.client().get('/api/agents/me', { bearer: other.apiKey })
  expect(untouched.body.data.description).not.toBe(CHANGE.description)
})

test('401: a signature that is expired, from the future, for another agent, or of another wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, `agents.update:${agent.id}`, market.now())) {
    rejected(await patch(agent.id, { ...CHANGE, ...proof }), 401, code)
  }
  const forOther = await update(await makeOwnedAgent(market), signer)
  rejected(await patch(agent.id, { ...CHANGE, ...forOther }), 401, 'bad_signature')
})

test('401: the owner’s signature is used a second time', async () => {
  const agent = await makeOwnedAgent(market)
  const proof = await update(agent, agent.owner)
  expect((await patch(agent.id, { ...CHANGE, ...proof })).status).toBe(200)
  rejected(await patch(agent.id, { ...CHANGE, ...proof }), 401, 'signature_used')
})

test('403: another user’s public agent, with any credential', async () => {
  const agent = await makeOwnedAgent(market)
  const otherUser = await makeUser(market)
  const other = await makeOwnedAgent(market)
  for (const ask of [{ bearer: otherUser.token }, { bearer: other.apiKey }]) {
    rejected(await patch(agent.id, CHANGE, ask), 403, 'not_your_agent')
  }
  const proof = await update(agent, evmSigner())
  rejected(await patch(agent.id, { ...CHANGE, ...proof }), 403, 'not_your_agent')
  rejected(await patch(agent.id, CHANGE, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('403: a wallet that was unlinked from the user, after the next sign-in', async () => {
  const agent = await makeOwnedAgent(market)
  const { sub, token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await patch(agent.id, CHANGE, { bearer: token })).status).toBe(200)
  market.idp.unlink(sub, 'wallets')
  await market.client().post('/api/auth/user', undefined, { bearer: token })
  rejected(await patch(agent.id, CHANGE, { bearer: token }), 403, 'not_your_agent')
})

test('403: an agent without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await patch(id, CHANGE, { bearer: token }), 403, 'not_your_agent')
})

test('404: an agent that does not exist', async () => {
  const { token } = await makeUser(market)
  const reply = await patch(MISSING, CHANGE, { bearer: token })
  rejected(reply, 404, 'agent_not_found')
  expect(reply.body.error).toBe(`No agent has the id or slug "${MISSING}".`)
})

test('403: a user who never signed in', async () => {
  const agent = await makeOwnedAgent(market)
  const token = await market.idp.token({ sub: 'never-signed-in' })
  rejected(await patch(agent.id, CHANGE, { bearer: token }), 403, 'not_your_agent')
})

test('403: a wallet that was unlinked at the provider, without a new sign-in', async () => {
  const agent = await makeOwnedAgent(market)
  const { sub, token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await patch(agent.id, CHANGE, { bearer: token })).status).toBe(200)
  market.idp.unlink(sub, 'wallets')
  rejected(await patch(agent.id, CHANGE, { bearer: token }), 403, 'not_your_agent')
})

test('200: a payout change is pending, also by the owner; it is in the audit log and the owner is notified', async () => {
  const agent = await makeOwnedAgent(market)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const payout_address_base = evmSigner().address
  const { body } = await patch(agent.id, { payout_address_base }, { bearer: token })
  expect(body.data).toMatchObject({ payout_address_base: null, pending_payout: { payout_address_base } })
  const rows = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(rows.map((row) => row.act)).toEqual(['agents.payout'])
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  const lower = payout_address_base.toLowerCase()
  const { effective_at } = body.data.pending_payout
  expect(inbox.body.data[0]).toMatchObject({
    kind: 'agent.payout_changed',
    body: expect.stringContaining(lower),
    data: { agent_id: agent.id, payout_address_base: lower, effective_at },
  })
  expect(inbox.body.data[0].title).toContain(effective_at)
})

test('200: changes of name and endpoint are in the audit log, and the owner gets one unread notification of each kind', async () => {
  const agent = await makeOwnedAgent(market)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const name = someName()
  const ask = { bearer: agent.apiKey }
  expect((await patch(agent.id, { name }, ask)).status).toBe(200)
  for (const path of ['one?token=secret', 'two', 'three']) {
    const change = { endpoint_url: `https://hooks.example/${path}`, payout_address_base: evmSigner().address }
    expect((await patch(agent.id, change, ask)).status).toBe(200)
  }
  const rows = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(rows.map((row) => row.act)).toEqual([
    'agents.name',
    ...Array.from({ length: 3 }, () => ['agents.payout', 'agents.endpoint']).flat(),
  ])
  expect(rows[0]?.details).toEqual({ from: agent.name, to: name })
  expect(JSON.stringify(rows.map(({ details }) => details))).not.toContain('secret')
  const { body } = await market.client().get('/api/notifications', { bearer: token })
  expect(body['unread_count']).toBe(3)
  expect(body.data).toMatchObject([
    { kind: 'agent.endpoint_changed', data: { endpoint_url: 'https://hooks.example/three' } },
    { kind: 'agent.payout_changed' },
    { kind: 'agent.name_changed', data: { agent_id: agent.id, from: agent.name, to: name } },
  ])
})

test('200: the owner restores the name that the API key changed', async () => {
  const agent = await makeOwnedAgent(market)
  expect((await patch(agent.id, { name: someName() }, { bearer: agent.apiKey })).status).toBe(200)
  const reply = await patch(agent.id, { name: agent.name, ...(await update(agent, agent.owner)) })
  expect(reply.body.data.name).toBe(agent.name)
})

test('403: payout_by_owner_only by the API key', async () => {
  const agent = await makeOwnedAgent(market)
  for (const payout_by_owner_only of [true, false])
    rejected(await patch(agent.id, { payout_by_owner_only }, { bearer: agent.apiKey }), 403, 'owner_only')
})

test('200: payout_by_owner_only removes a pending change of the API key', async () => {
  const agent = await makeOwnedAgent(market)
  const payout_address_base = evmSigner().address
  await patch(agent.id, { payout_address_base }, { bearer: agent.apiKey })
  const on = { payout_by_owner_only: true }
  const { body } = await patch(agent.id, { ...on, ...(await update(agent, agent.owner)) })
  expect(body.data).toMatchObject({ ...on, pending_payout: null })
})

test('409: the name of another agent', async () => {
  const held = await makeAgent(market)
  const agent = await makeAgent(market)
  rejected(await patch(agent.id, { name: held.name }, { bearer: agent.apiKey }), 409, 'name_taken')
})
