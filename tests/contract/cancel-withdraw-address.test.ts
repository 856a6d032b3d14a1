import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertWithdrawAddress,
  makeWalletAgent,
  NO_AGENT,
  PAYEE,
  signedBy,
} from '../support/agent-wallets.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/agents/${id}/withdraw-address`
const purposeOf = (id: string) => `wallets.withdraw-address-cancel:${id}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const cancel = (id: string, ask: RequestOptions = {}) => market.client().send('DELETE', pathOf(id), ask)

/** A withdraw address that takes effect tomorrow. */
async function insertPending(agentId: string, address: string): Promise<void> {
  await market.db
    .insertInto('withdraw_addresses')
    .values({
      ...{ id: `wad_1700000000000_${'1'.repeat(8)}${agentId.slice(-9)}`, agent_id: agentId, address },
      ...{ set_by: 'wallet:owner', created_at: new Date(market.now()) },
      effective_at: new Date(market.now() + DAY),
    })
    .execute()
}

const subject: Subject = {
  market: () => market,
  operation: operations.cancelWithdrawAddress,
  good: async () => {
    const { token } = await makeUser(market)
    const agent = await makeAgent(market, { idp_access_token: token })
    await insertPending(agent.id, PAYEE)
    return { path: pathOf(agent.id), body: {}, ask: { bearer: token } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, pathOf(NO_AGENT))

test('200: the pending address never takes effect, the present one stays, and again it changes nothing', async () => {
  const agent = await makeWalletAgent(market)
  const pending = (await solanaSigner()).address
  await insertWithdrawAddress(market, agent)
  await insertPending(agent.id, pending)
  const present = { withdraw_address: PAYEE, pending_address: null, pending_effective_at: null }
  for (let times = 0; times < 2; times += 1) {
    const { status, body } = await cancel(agent.id, await signedBy(agent.owner, purposeOf(agent.id)))
    expect(status).toBe(200)
    expect(body.data).toEqual(present)
  }
  await market.advance(DAY)
  const { body } = await cancel(agent.id, await signedBy(agent.owner, purposeOf(agent.id)))
  expect(body.data).toEqual(present)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data).toMatchObject([
    { kind: 'agent.withdraw_address_cancelled', data: { address: pending } },
  ])
  const audit = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(audit.map(({ act }) => act)).toEqual(['wallets.withdraw-address-cancel'])
})

test('400: an invalid id', async () => {
  const { token } = await makeUser(market)
  invalid(await cancel('agt_', { bearer: token }), 'agent_id')
})

test('401: a signature that is expired or for another purpose', async () => {
  const agent = await makeOwnedAgent(market)
  const bad = await badSignatures(await solanaSigner(), purposeOf(agent.id), market.wallTime())
  for (const [code, proof] of bad) rejected(await cancel(agent.id, { headers: asHeaders(proof) }), 401, code)
})

test('403: the API key of the agent, another owner, and an admin key', async () => {
  const agent = await makeOwnedAgent(market)
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await cancel(agent.id, { bearer }), 403, 'wrong_credential')
  const signature = await signedBy(await solanaSigner(), purposeOf(agent.id))
  rejected(await cancel(agent.id, signature), 403, 'not_your_agent')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await cancel(id, { bearer: token }), 403, 'not_your_agent')
  rejected(await cancel(NO_AGENT, { bearer: token }), 404, 'agent_not_found')
})
