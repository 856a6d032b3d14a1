import { operations } from '@market/contract/operations'
import { DAY, HOUR } from '@market/kernel/clock'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  makeWalletAgent,
  NO_AGENT,
  PAYEE,
  signedBy,
  startWalletMarket,
  untilNotified,
  type WalletMarket,
  walletOf,
} from '../support/agent-wallets.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { loginBefore } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/agents/${id}/withdraw-address`
const purposeOf = (id: string, address: string) => `wallets.withdraw-address:${id}:${address}`

let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

const set = (id: string, body: unknown, ask?: RequestOptions) => market.client().put(pathOf(id), body, ask)

const setByOwner = async (
  { id, owner }: { id: string; owner: Parameters<typeof signed>[0] },
  address: string,
) => set(id, { address, ...(await signed(owner, purposeOf(id, address))) })

async function agentOfUser() {
  const { sub, token } = await makeUser(market)
  return { sub, token, agent: await makeAgent(market, { idp_access_token: token }) }
}

const subject: Subject = {
  market: () => market,
  operation: operations.setWithdrawAddress,
  good: async () => {
    const { token, agent } = await agentOfUser()
    return { path: pathOf(agent.id), body: { address: PAYEE }, ask: { bearer: token } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, pathOf(NO_AGENT), { address: PAYEE })

test('200: takes effect after 24 hours, notifies the owner, and again it changes nothing', async () => {
  const { token, agent } = await agentOfUser()
  const { status, body } = await set(agent.id, { address: PAYEE }, { bearer: token })
  expect(status).toBe(200)
  expect(body.data).toEqual({
    withdraw_address: null,
    pending_address: PAYEE,
    pending_effective_at: expect.stringMatching(INSTANT),
  })
  const left = Date.parse(body.data.pending_effective_at) - market.now()
  expect(left).toBeGreaterThan(23 * HOUR)
  expect(left).toBeLessThanOrEqual(DAY)
  expect((await set(agent.id, { address: PAYEE }, { bearer: token })).body).toEqual(body)
  await untilNotified(market, agent.id)
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data).toMatchObject([{ kind: 'agent.withdraw_address_set', data: { address: PAYEE } }])
  const audit = await market.db.selectFrom('audit_log').selectAll().where('subject', '=', agent.id).execute()
  expect(audit.map(({ act }) => act)).toEqual(['wallets.withdraw-address'])
})

test('200: by a signature that names it; another address replaces the pending one, and the present one stays', async () => {
  const agent = await makeWalletAgent(market)
  const [second, third] = [(await solanaSigner()).address, (await solanaSigner()).address]
  await setByOwner(agent, PAYEE)
  await untilNotified(market, agent.id)
  await market.advance(DAY)
  expect((await setByOwner(agent, second)).body.data).toMatchObject({
    withdraw_address: PAYEE,
    pending_address: second,
  })
  expect((await setByOwner(agent, third)).body.data).toMatchObject({
    withdraw_address: PAYEE,
    pending_address: third,
  })
  // The present address again cancels the pending one.
  expect((await setByOwner(agent, PAYEE)).body.data).toEqual({
    withdraw_address: PAYEE,
    pending_address: null,
    pending_effective_at: null,
  })
})

test('400: an invalid id, and an address that is none, is not a wallet or is the server wallet', async () => {
  const { token, agent } = await agentOfUser()
  const ask = { bearer: token }
  invalid(await set('agt_', { address: PAYEE }, ask), 'agent_id')
  for (const address of [undefined, '', 'x', `0x${'1'.repeat(40)}`, PAYEE.slice(0, 31), `${PAYEE}1`])
    invalid(await set(agent.id, { address }, ask), 'address')
  const { usdc } = market.chains['solana-mainnet'].chain
  for (const address of [usdc.mint, await walletOf(market, agent.id)])
    rejected(await set(agent.id, { address }, ask), 400, 'bad_withdraw_address', {
      details: [{ path: 'address', message: expect.stringMatching(/\S/) }],
    })
})

test('401: a signature that names another address, is expired or was used before; a login that is too old', async () => {
  const agent = await makeWalletAgent(market)
  const signer = await solanaSigner()
  const purpose = purposeOf(agent.id, PAYEE)
  for (const [code, proof] of await badSignatures(signer, purpose, market.wallTime()))
    rejected(await set(agent.id, { address: PAYEE, ...proof }), 401, code)
  const other = await signed(signer, purposeOf(agent.id, signer.address))
  rejected(await set(agent.id, { address: PAYEE, ...other }), 401, 'bad_signature')
  const proof = await signed(agent.owner, purpose)
  expect((await set(agent.id, { address: PAYEE, ...proof })).status).toBe(200)
  rejected(await set(agent.id, { address: PAYEE, ...proof }), 401, 'signature_used')
  const user = await agentOfUser()
  const stale = { bearer: loginBefore(market, 960, user.sub) }
  rejected(await set(user.agent.id, { address: PAYEE }, stale), 401, 'login_too_old')
})

test('403: the API key of the agent, another owner, and an admin key', async () => {
  const agent = await makeOwnedAgent(market)
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await set(agent.id, { address: PAYEE }, { bearer }), 403, 'wrong_credential')
  const signature = await signedBy(await solanaSigner(), purposeOf(agent.id, PAYEE))
  rejected(await set(agent.id, { address: PAYEE }, signature), 403, 'not_your_agent')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await set(id, { address: PAYEE }, { bearer: token }), 403, 'not_your_agent')
  rejected(await set(NO_AGENT, { address: PAYEE }, { bearer: token }), 404, 'agent_not_found')
})

test('503: while no Solana node is configured, nothing is saved', async () => {
  const away = await startMarket()
  try {
    const { token } = await makeUser(away)
    const agent = await makeAgent(away, { idp_access_token: token })
    const reply = await away.client().put(pathOf(agent.id), { address: PAYEE }, { bearer: token })
    rejected(reply, 503, 'wallets_unavailable')
    expect(await away.db.selectFrom('withdraw_addresses').selectAll().execute()).toEqual([])
  } finally {
    await away.stop()
  }
})
