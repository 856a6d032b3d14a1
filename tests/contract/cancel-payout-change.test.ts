import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`
const pathOf = (id: string) => `/api/agents/${id}/payout-change/cancel`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const cancel = (id: string, body: unknown = {}, ask?: RequestOptions) =>
  market.client().post(pathOf(id), body, ask)

/** An agent with a pending payout change. */
async function pending() {
  const agent = await makeOwnedAgent(market)
  const change = { payout_address_base: evmSigner().address }
  const { status } = await market.client().patch('/api/agents/me', change, { bearer: agent.apiKey })
  expect(status).toBe(200)
  return agent
}

const subject: Subject = {
  market: () => market,
  operation: operations.cancelPayoutChange,
  good: async () => {
    const agent = await pending()
    const { token } = await makeUser(market, { wallets: [agent.owner.address] })
    return { path: pathOf(agent.id), body: {}, ask: { bearer: token } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, pathOf(MISSING), {})

const proofOf = (agent: { id: string; owner: Parameters<typeof signed>[0] }) =>
  signed(agent.owner, `agents.payout-cancel:${agent.id}`, market.wallTime())

test('200: the change never takes effect, the owner is notified, and a second request changes nothing', async () => {
  const agent = await pending()
  const { status, body } = await cancel(agent.id, await proofOf(agent))
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ payout_address_base: null, pending_payout: null })
  expect((await cancel(agent.id, await proofOf(agent))).body).toEqual(body)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data).toMatchObject([
    { kind: 'agent.payout_changed', data: { payout_address_base: null, effective_at: null } },
  ])
  const rows = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(rows.map(({ act }) => act)).toEqual(['agents.payout', 'agents.payout'])
  await market.advance(DAY)
  const me = await market.client().get('/api/agents/me', { bearer: agent.apiKey })
  expect(me.body.data.payout_address_base).toBeNull()
})

test('400: an invalid id', async () => {
  const { token } = await makeUser(market)
  invalid(await cancel('agt_', {}, { bearer: token }), 'agent_id')
})

test('401: a signature that is expired or for another purpose', async () => {
  const agent = await pending()
  const purpose = `agents.payout-cancel:${agent.id}`
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, purpose, market.wallTime()))
    rejected(await cancel(agent.id, proof), 401, code)
  const other = await signed(signer, `agents.update:${agent.id}`, market.wallTime())
  rejected(await cancel(agent.id, other), 401, 'bad_signature')
})

test('403: the API key of the agent, another owner, and an admin key', async () => {
  const agent = await pending()
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await cancel(agent.id, {}, { bearer }), 403, 'wrong_credential')
  rejected(await cancel(agent.id, await proofOf({ ...agent, owner: evmSigner() })), 403, 'not_your_agent')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await cancel(id, {}, { bearer: token }), 403, 'not_your_agent')
  rejected(await cancel(MISSING, {}, { bearer: token }), 404, 'agent_not_found')
})
