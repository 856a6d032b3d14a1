import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { type Endpoint, isSignedBy, startEndpoint } from '../support/endpoint.ts'
import { makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { loginBefore } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { API_KEY } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`
const pathOf = (id: string) => `/api/agents/${id}/rotate-key`

let endpoint: Endpoint
let market: Market
beforeAll(async () => {
  endpoint = await startEndpoint()
  market = await startMarket(endpoint.settings)
})
afterAll(async () => {
  await market.stop()
  await endpoint.stop()
})

const rotate = (id: string, body: unknown = {}, ask?: RequestOptions) =>
  market.client().post(pathOf(id), body, ask)
const proofOf = (agent: { id: string; owner: Parameters<typeof signed>[0] }) =>
  signed(agent.owner, `agents.rotate-key:${agent.id}`, market.wallTime())
const getMe = (bearer: string) => market.client().get('/api/agents/me', { bearer })
const patchMe = (bearer: string, body: unknown) => market.client().patch('/api/agents/me', body, { bearer })

/** A user with one agent. */
async function ownerByToken() {
  const { sub, token } = await makeUser(market)
  return { sub, token, agent: await makeAgent(market, { idp_access_token: token }) }
}

const subject: Subject = {
  market: () => market,
  operation: operations.rotateKey,
  good: async () => {
    const { token, agent } = await ownerByToken()
    return { path: pathOf(agent.id), body: {}, ask: { bearer: token } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, pathOf(MISSING), {})

test('200: the old key is rejected from the next request on, and recover returns the new one', async () => {
  const { token, agent } = await ownerByToken()
  const { status, body } = await rotate(agent.id, {}, { bearer: token })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: {
      agent_id: agent.id,
      api_key: expect.stringMatching(API_KEY),
      webhook_secret: null,
      endpoint_url: null,
      pending_payout: null,
    },
  })
  const { api_key } = body.data
  expect(api_key).not.toBe(agent.apiKey)
  rejected(await getMe(agent.apiKey), 401, 'bad_api_key')
  expect((await getMe(api_key)).body.data.id).toBe(agent.id)
  const recovered = await market.client().post('/api/agents/recover', {}, { bearer: token })
  expect(recovered.body.data.agents[0].api_key).toBe(api_key)
})

test('200: by the owner wallet; it is in the audit log without the key, and the owner is notified', async () => {
  const agent = await makeOwnedAgent(market)
  const { body } = await rotate(agent.id, await proofOf(agent))
  const rows = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(rows.map(({ act }) => act)).toEqual(['agents.rotate_key'])
  expect(JSON.stringify(rows.map(({ details }) => details))).not.toContain(body.data.api_key)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data).toMatchObject([{ kind: 'agent.key_rotated', data: { agent_id: agent.id } }])
})

test('200: cancels a pending payout change of the key, and keeps one of the owner', async () => {
  const { token, agent } = await ownerByToken()
  const thief = { payout_address_base: evmSigner().address }
  expect((await patchMe(agent.apiKey, thief)).body.data.pending_payout).toMatchObject(thief)
  const first = await rotate(agent.id, {}, { bearer: token })
  expect(first.body.data.pending_payout).toBeNull()

  const own = { payout_address_base: evmSigner().address }
  await market.client().patch(`/api/agents/${agent.id}`, own, { bearer: token })
  const second = await rotate(agent.id, {}, { bearer: token })
  expect(second.body.data.pending_payout).toMatchObject(own)
})

/** The headers of a test delivery, and whether each signature is of a secret. */
async function signaturesOf(bearer: string) {
  endpoint.received.length = 0
  expect((await market.client().post('/api/agents/me/deliveries/test', undefined, { bearer })).status).toBe(
    200,
  )
  const [call] = endpoint.received
  if (call === undefined) throw new Error('the endpoint received nothing')
  const previous = call.headers['x-market-signature-previous']
  return {
    isBy: (secret: string) => isSignedBy(secret, call),
    hasPrevious: previous !== undefined,
    isPreviousBy: (secret: string) =>
      isSignedBy(secret, { ...call, headers: { 'x-market-signature': previous } }),
  }
}

test('200: webhook_secret: true replaces the secret; for an hour the old one signs X-Market-Signature-Previous', async () => {
  const { token, agent } = await ownerByToken()
  await patchMe(agent.apiKey, { endpoint_url: 'https://hooks.example/in' })
  const old = (await getMe(agent.apiKey)).body.data.webhook_secret
  const first = await signaturesOf(agent.apiKey)
  expect([first.isBy(old), first.hasPrevious]).toEqual([true, false])

  const { body } = await rotate(agent.id, { webhook_secret: true }, { bearer: token })
  const { api_key: bearer, webhook_secret: fresh } = body.data
  expect(fresh).toMatch(/^whsec_[\w-]{43}$/)
  expect(fresh).not.toBe(old)
  expect((await getMe(bearer)).body.data.webhook_secret).toBe(fresh)
  const second = await signaturesOf(bearer)
  expect([second.isBy(fresh), second.isBy(old), second.isPreviousBy(old)]).toEqual([true, false, true])

  await market.advance(61 * 60_000)
  const third = await signaturesOf(bearer)
  expect([third.isBy(fresh), third.hasPrevious]).toEqual([true, false])
  const rows = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(JSON.stringify(rows.map(({ details }) => details))).not.toContain('whsec_')
})

test('200: without webhook_secret the secret stays; an agent without an endpoint has none to replace', async () => {
  const { token, agent } = await ownerByToken()
  const none = await rotate(agent.id, { webhook_secret: true }, { bearer: token })
  expect([none.status, none.body.data.webhook_secret]).toEqual([200, null])
  await patchMe(none.body.data.api_key, { endpoint_url: 'https://hooks.example/in' })
  const before = (await getMe(none.body.data.api_key)).body.data.webhook_secret
  const kept = await rotate(agent.id, { webhook_secret: false }, { bearer: token })
  expect(kept.body.data.webhook_secret).toBeNull()
  expect((await getMe(kept.body.data.api_key)).body.data.webhook_secret).toBe(before)
})

test('401: a login that is older than 15 minutes; recover does not ask for one', async () => {
  const { sub, agent } = await ownerByToken()
  const stale = loginBefore(market, 960, sub)
  rejected(await rotate(agent.id, {}, { bearer: stale }), 401, 'login_too_old')
  expect((await getMe(agent.apiKey)).status).toBe(200)
  expect(operations.recoverAgents).not.toHaveProperty('recentLogin')
})

test('400: an invalid id', async () => {
  const { token } = await makeUser(market)
  invalid(await rotate('agt_', {}, { bearer: token }), 'agent_id')
})

test('401: a signature that is expired, for another purpose, of another wallet, or used before', async () => {
  const agent = await makeOwnedAgent(market)
  const purpose = `agents.rotate-key:${agent.id}`
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, purpose, market.wallTime()))
    rejected(await rotate(agent.id, proof), 401, code)
  const other = await signed(signer, `agents.update:${agent.id}`, market.wallTime())
  rejected(await rotate(agent.id, other), 401, 'bad_signature')
  const proof = await proofOf(agent)
  expect((await rotate(agent.id, proof)).status).toBe(200)
  rejected(await rotate(agent.id, proof), 401, 'signature_used')
})

test('403: the API key of the agent, another owner, and an admin key', async () => {
  const agent = await makeOwnedAgent(market)
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await rotate(agent.id, {}, { bearer }), 403, 'wrong_credential')
  const { token } = await makeUser(market)
  rejected(await rotate(agent.id, {}, { bearer: token }), 403, 'not_your_agent')
  rejected(await rotate(agent.id, await proofOf({ ...agent, owner: evmSigner() })), 403, 'not_your_agent')
  expect((await getMe(agent.apiKey)).status).toBe(200)
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await rotate(id, {}, { bearer: token }), 403, 'not_your_agent')
  rejected(await rotate(MISSING, {}, { bearer: token }), 404, 'agent_not_found')
})
