import { operations } from '@market/contract/operations'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertWithdrawAddress,
  makeWalletAgent,
  NO_AGENT,
  PAYEE,
  signedBy,
  startWalletMarket,
  type WalletMarket,
  walletOf,
} from '../support/agent-wallets.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/agents/${id}/funding`

let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.getFunding,
  good: async () => {
    const agent = await makeOwnedAgent(market)
    return { path: pathOf(agent.id), ask: { bearer: agent.apiKey } }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(NO_AGENT))

test('200: an empty wallet, with what a launch and an identity cost and require', async () => {
  const agent = await makeOwnedAgent(market)
  const { status, body } = await market.client().get(pathOf(agent.id), { bearer: agent.apiKey })
  expect(status).toBe(200)
  const requirement = { cost_sol: expect.any(Number), required_sol: expect.any(Number) }
  expect(body.data).toEqual({
    deposit_address: await walletOf(market, agent.id),
    balance_sol: 0,
    balance_usdc: 0,
    tokens: [],
    requirements: { launch: requirement, said: requirement },
    withdraw_address: null,
    pending_address: null,
    pending_effective_at: null,
    exported_at: null,
  })
  const { launch, said } = body.data.requirements
  for (const { cost_sol, required_sol } of [launch, said]) {
    expect(cost_sol).toBeGreaterThan(0)
    expect(required_sol).toBeGreaterThanOrEqual(0.03)
    expect(required_sol).toBeGreaterThan(cost_sol * 1.25)
  }
})

test('200: balances of SOL and USDC and the withdraw address, for the key, the user and the owner wallet', async () => {
  const agent = await makeWalletAgent(market)
  await market.fund(agent.id, { sol: 1_500_000_000n, micros: 2_500_001n })
  await insertWithdrawAddress(market, agent)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const funded = { balance_sol: 1.5, balance_usdc: 2.500001, withdraw_address: PAYEE }
  const asks = [{ bearer: agent.apiKey }, { bearer: token }, await signedBy(agent.owner, 'session')]
  for (const ask of asks)
    expect((await market.client().get(pathOf(agent.id), ask)).body.data).toMatchObject(funded)
  const me = await market.client().get(pathOf('me'), { bearer: agent.apiKey })
  expect(me.body.data).toMatchObject(funded)
})

test('200: required_sol is at least WALLET_MINIMUM_LAMPORTS', async () => {
  const dear = await startWalletMarket({ WALLET_MINIMUM_LAMPORTS: '2000000000' })
  try {
    const agent = await makeOwnedAgent(dear)
    const { body } = await dear.client().get(pathOf(agent.id), { bearer: agent.apiKey })
    expect(body.data.requirements).toMatchObject({ launch: { required_sol: 2 }, said: { required_sol: 2 } })
  } finally {
    await dear.stop()
  }
})

test('400: an invalid id', async () => {
  const { token } = await makeUser(market)
  invalid(await market.client().get(pathOf('agt_'), { bearer: token }), 'agent_id')
})

test('401: a signature that is expired or for another purpose', async () => {
  const agent = await makeOwnedAgent(market)
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.wallTime()))
    rejected(await market.client().get(pathOf(agent.id), { headers: asHeaders(proof) }), 401, code)
})

test('403: another agent, another owner, and an admin key', async () => {
  const [agent, other] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  const { token } = await makeUser(market)
  for (const bearer of [other.apiKey, token])
    rejected(await market.client().get(pathOf(agent.id), { bearer }), 403, 'not_your_agent')
  const signature = await signedBy(other.owner, 'session')
  rejected(await market.client().get(pathOf(agent.id), signature), 403, 'not_your_agent')
  rejected(await market.client().get(pathOf(agent.id), { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await market.client().get(pathOf(id), { bearer: token }), 403, 'not_your_agent')
  rejected(await market.client().get(pathOf(NO_AGENT), { bearer: token }), 404, 'agent_not_found')
})

test('503: while no Solana node is configured', async () => {
  const away = await startMarket()
  try {
    const agent = await makeOwnedAgent(away)
    const reply = await away.client().get(pathOf(agent.id), { bearer: agent.apiKey })
    rejected(reply, 503, 'wallets_unavailable')
    expect(reply.headers.get('retry-after')).toBe('60')
  } finally {
    await away.stop()
  }
})
