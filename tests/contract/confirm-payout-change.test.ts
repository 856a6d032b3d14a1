import { operations } from '@market/contract/operations'
import { HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { loginBefore } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { confirmPayout, setPayout } from '../support/set-payout.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`
const pathOf = (id: string) => `/api/agents/${id}/payout-change/confirm`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const confirm = (id: string, body: unknown, ask?: RequestOptions) =>
  market.client().post(pathOf(id), body, ask)
const patchMe = (agent: { apiKey: string }, body: unknown) =>
  market.client().patch('/api/agents/me', body, { bearer: agent.apiKey })
const getMe = async (agent: { apiKey: string }) =>
  (await market.client().get('/api/agents/me', { bearer: agent.apiKey })).body.data

/** A user whose agent asked for a payout address. */
async function pendingOfUser() {
  const { sub, token } = await makeUser(market)
  const agent = await makeAgent(market, { idp_access_token: token })
  const address = evmSigner().address
  expect((await patchMe(agent, { payout_address_base: address })).status).toBe(200)
  return { sub, token, agent, address }
}

const subject: Subject = {
  market: () => market,
  operation: operations.confirmPayoutChange,
  good: async () => {
    const { token, agent, address } = await pendingOfUser()
    return { path: pathOf(agent.id), body: { address }, ask: { bearer: token } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, pathOf(MISSING), { address: 'base' })

test('200: the named address is paid at once, by a recent login or a signature that names it; again it changes nothing', async () => {
  const { token, agent, address } = await pendingOfUser()
  const applied = { payout_address_base: address, pending_payout: null }
  expect((await confirm(agent.id, { address }, { bearer: token })).body.data).toMatchObject(applied)
  expect((await confirm(agent.id, { address }, { bearer: token })).status).toBe(200)
  const rows = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(rows.map(({ act }) => act)).toEqual(['agents.payout', 'agents.payout'])

  const byWallet = await makeOwnedAgent(market)
  const next = evmSigner().address
  await patchMe(byWallet, { payout_address_base: next })
  const { body } = await confirmPayout(market, byWallet, next)
  expect(body.data).toMatchObject({ payout_address_base: next, pending_payout: null })
})

test('200: only the named setting is applied; the others wait', async () => {
  const agent = await makeOwnedAgent(market)
  const change = {
    payout_chain: 'solana',
    payout_wallet: (await solanaSigner()).address,
    payout_address_base: evmSigner().address,
  }
  const { pending_payout } = (await patchMe(agent, change)).body.data
  const first = await confirmPayout(market, agent, change.payout_wallet)
  expect(first.body.data).toMatchObject({
    payout_chain: null,
    payout_wallet: change.payout_wallet,
    payout_address_base: null,
    pending_payout,
  })
  expect((await confirmPayout(market, agent, 'solana')).body.data.payout_chain).toBe('solana')
  expect((await confirmPayout(market, agent, change.payout_address_base)).body.data).toMatchObject({
    ...change,
    pending_payout: null,
  })
  await patchMe(agent, { payout_chain: null })
  expect((await confirmPayout(market, agent, 'payout_chain')).body.data.payout_chain).toBeNull()
})

test('200: without a confirmation the old address is in effect for 24 hours, then the new one', async () => {
  const agent = await makeOwnedAgent(market)
  const [old, next] = [evmSigner().address, evmSigner().address]
  await setPayout(market, agent, 'payout_address_base', old)
  await patchMe(agent, { payout_address_base: next })
  await market.advance(23 * HOUR)
  expect(await getMe(agent)).toMatchObject({
    payout_address_base: old,
    pending_payout: { payout_address_base: next },
  })
  await market.advance(HOUR)
  expect(await getMe(agent)).toMatchObject({ payout_address_base: next, pending_payout: null })
  // The next write stores it.
  const third = evmSigner().address
  await patchMe(agent, { payout_address_base: third })
  expect(await getMe(agent)).toMatchObject({
    payout_address_base: next,
    pending_payout: { payout_address_base: third },
  })
})

test('400: an invalid id, and no address', async () => {
  const { token, agent } = await pendingOfUser()
  invalid(await confirm('agt_', { address: 'base' }, { bearer: token }), 'agent_id')
  invalid(await confirm(agent.id, {}, { bearer: token }), 'address')
  invalid(await confirm(agent.id, { address: 'x'.repeat(65) }, { bearer: token }), 'address')
})

test('401: a signature that names another address, is expired or was used before', async () => {
  const agent = await makeOwnedAgent(market)
  const address = evmSigner().address
  await patchMe(agent, { payout_address_base: address })
  const purpose = `agents.payout:${agent.id}:${address}`
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, purpose, market.wallTime()))
    rejected(await confirm(agent.id, { address, ...proof }), 401, code)
  const other = await signed(signer, `agents.payout:${agent.id}:${evmSigner().address}`, market.wallTime())
  rejected(await confirm(agent.id, { address, ...other }), 401, 'bad_signature')
  const update = await signed(signer, `agents.update:${agent.id}`, market.wallTime())
  rejected(await confirm(agent.id, { address, ...update }), 401, 'bad_signature')
  const proof = await signed(agent.owner, purpose, market.wallTime())
  expect((await confirm(agent.id, { address, ...proof })).status).toBe(200)
  rejected(await confirm(agent.id, { address, ...proof }), 401, 'signature_used')
})

test('401: a login that is older than 15 minutes', async () => {
  const { sub, agent, address } = await pendingOfUser()
  const stale = loginBefore(market, 960, sub)
  rejected(await confirm(agent.id, { address }, { bearer: stale }), 401, 'login_too_old')
  expect((await getMe(agent)).payout_address_base).toBeNull()
})

test('403: the API key of the agent, another owner, and an admin key', async () => {
  const { agent, address } = await pendingOfUser()
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await confirm(agent.id, { address }, { bearer }), 403, 'wrong_credential')
  const { token } = await makeUser(market)
  rejected(await confirm(agent.id, { address }, { bearer: token }), 403, 'not_your_agent')
  const other = { id: agent.id, owner: evmSigner() }
  rejected(await confirmPayout(market, other, address), 403, 'not_your_agent')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await confirm(id, { address: 'base' }, { bearer: token }), 403, 'not_your_agent')
  rejected(await confirm(MISSING, { address: 'base' }, { bearer: token }), 404, 'agent_not_found')
})

test('409: an address that is not pending, also when the key has replaced it', async () => {
  const { token, agent, address } = await pendingOfUser()
  await patchMe(agent, { payout_address_base: evmSigner().address })
  rejected(await confirm(agent.id, { address }, { bearer: token }), 409, 'no_payout_change')
})
