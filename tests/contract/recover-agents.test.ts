import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, DESCRIPTION, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/agents/recover'
const PURPOSE = 'agents.recover'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const recover = (body: unknown, ask?: RequestOptions) => market.client().post(PATH, body, ask)

/** A person with one agent of their own. */
async function ownerByToken() {
  const { token } = await makeUser(market)
  const agent = await makeAgent(market, { idp_access_token: token })
  return { token, agent }
}

const subject: Subject = {
  market: () => market,
  operation: operations.recoverAgents,
  good: async () => ({ path: PATH, body: {}, ask: { bearer: (await ownerByToken()).token } }),
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, PATH, {})

const recovered = (agent: { id: string; slug: string; name: string; apiKey: string }, more = {}) => ({
  agent_id: agent.id,
  slug: agent.slug,
  name: agent.name,
  description: DESCRIPTION,
  api_key: agent.apiKey,
  twitter_username: null,
  verified: 1,
  created_at: expect.stringMatching(INSTANT),
  ...more,
})

test('200: returns the same API keys of a wallet, newest first', async () => {
  const owner = evmSigner()
  const older = await makeOwnedAgent(market, {}, owner)
  const newer = await makeOwnedAgent(market, {}, owner)
  const { status, body } = await recover(await signed(owner, PURPOSE, market.now()))
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: { agents: [recovered(newer), recovered(older)] } })
  const me = await market.client().get('/api/agents/me', { bearer: body.data.agents[0].api_key })
  expect(me.body.data.id).toBe(newer.id)
})

test('200: returns the agent of a Solana wallet that signs in headers', async () => {
  const owner = await solanaSigner()
  const name = 'Solana Owner'
  const proof = await signed(owner, `agents.register:${name}`, market.now())
  const agent = await makeAgent(market, { name, ...proof })
  const headers = asHeaders(await signed(owner, PURPOSE, market.now()))
  const { body } = await recover({}, { headers })
  expect(body.data.agents).toEqual([recovered({ ...agent, name })])
})

test('200: returns the agents of the user and of the wallets that are linked now', async () => {
  const wallet = evmSigner()
  const byWallet = await makeOwnedAgent(market, {}, wallet)
  const { sub, token } = await makeUser(market, { wallets: [wallet.address] })
  const own = await makeAgent(market, { idp_access_token: token })
  const both = await recover({}, { bearer: token })
  expect(both.status).toBe(200)
  expect(both.body.data).toEqual({ agents: [recovered(own), recovered(byWallet)] })

  market.idp.unlink(sub, 'wallets')
  const fewer = await recover({ idp_access_token: token })
  expect(fewer.body.data).toEqual({ agents: [recovered(own)] })
})

test('200: only the agent with the name, for any spelling of it', async () => {
  const owner = evmSigner()
  const wanted = await makeOwnedAgent(market, {}, owner)
  await makeOwnedAgent(market, {}, owner)
  for (const agent_name of [wanted.name, wanted.name.toLowerCase()]) {
    const proof = await signed(owner, PURPOSE, market.now())
    const { body } = await recover({ ...proof, agent_name })
    expect(body.data.agents).toEqual([recovered(wanted)])
  }
})

test('200: records the recovery in the audit log without the keys', async () => {
  const { token, agent } = await ownerByToken()
  const { headers } = await recover({}, { bearer: token })
  const entries = await market.db
    .selectFrom('audit_log')
    .selectAll()
    .where('subject', '=', agent.id)
    .where('act', '=', 'agents.recover')
    .execute()
  expect(entries).toHaveLength(1)
  expect(entries[0]?.request_id).toBe(headers.get('x-request-id'))
  expect(JSON.stringify(entries[0]?.details)).not.toContain(agent.apiKey)
  expect(market.logText()).not.toContain(agent.apiKey)
})

test('400: an invalid name; a malformed signature is 401', async () => {
  const { token } = await ownerByToken()
  for (const agent_name of ['', 'x'.repeat(41), 'two\nlines', 7, null]) {
    const { body, status } = await recover({ agent_name }, { bearer: token })
    expect(status).toBe(400)
    expect(body.details?.[0]?.path).toBe('agent_name')
  }
  const proof = await signed(evmSigner(), PURPOSE, market.now())
  const malformed = await recover({ ...proof, wallet_sig: 'nonsense' })
  expect([malformed.status, malformed.body.code, malformed.body.details?.[0]?.path]).toEqual([
    401,
    'bad_wallet_fields',
    'wallet_sig',
  ])
})

test('401: a signature that is expired, from the future, for another purpose, or of another wallet', async () => {
  const owner = await solanaSigner()
  for (const [code, proof] of await badSignatures(owner, PURPOSE, market.now())) {
    rejected(await recover(proof), 401, code)
  }
  rejected(await recover(await signed(owner, 'session', market.now())), 401, 'bad_signature')
})

test('401: a signature that was used before, in the body or in headers', async () => {
  const owner = evmSigner()
  await makeOwnedAgent(market, {}, owner)
  const proof = await signed(owner, PURPOSE, market.now())
  expect((await recover(proof)).status).toBe(200)
  rejected(await recover(proof), 401, 'signature_used')
  rejected(await recover({}, { headers: asHeaders(proof) }), 401, 'signature_used')
})

test('401: a token whose session the provider has ended', async () => {
  const { token } = await ownerByToken()
  market.idp.revoke(token)
  rejected(await recover({}, { bearer: token }), 401, 'bad_token')
})

test('403: an agent’s own key', async () => {
  const { agent } = await ownerByToken()
  rejected(await recover({}, { bearer: agent.apiKey }), 403, 'wrong_credential')
})

test('404: the same message for no agent, no agent of that name, and an agent of another owner', async () => {
  const otherUser = await makeUser(market)
  rejected(await recover({}, { bearer: otherUser.token }), 404, 'agent_not_found')
  rejected(await recover(await signed(evmSigner(), PURPOSE, market.now())), 404, 'agent_not_found')
  const { agent } = await ownerByToken()
  const { token } = await ownerByToken()
  rejected(await recover({ agent_name: agent.name }, { bearer: token }), 404, 'agent_not_found')
})

test('503: a contract wallet’s signature while its chain is unavailable', async () => {
  const proof = await signed(evmSigner(), PURPOSE, market.now())
  rejected(await recover({ ...proof, wallet: evmSigner().address }), 503, 'unavailable')
})
