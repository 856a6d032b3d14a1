import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertOperation,
  NO_AGENT,
  startWalletMarket,
  untilEnded,
  type WalletMarket,
  walletOf,
} from '../support/agent-wallets.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { DESCRIPTION, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY, SHORT_WAIT } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/agents/${id}/said`
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

type Api = Pick<WalletMarket, 'client'>
let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

const mint = ({ id, apiKey }: { id: string; apiKey: string }, body: unknown = {}, { client }: Api = market) =>
  client().post(pathOf(id), body, { bearer: apiKey })

async function fundedAgent() {
  const agent = await makeOwnedAgent(market)
  await market.fund(agent.id)
  return agent
}

const subject: Subject = {
  market: () => market,
  operation: operations.mintIdentity,
  good: async () => {
    const { id, apiKey } = await fundedAgent()
    return { path: pathOf(id), body: {}, ask: { bearer: apiKey } }
  },
}
commonWriteErrors({
  ...subject,
  waits: true,
  other: (call) => ({
    ...call,
    method: 'PATCH',
    path: '/api/agents/me',
    body: { description: DESCRIPTION },
  }),
})

test('200: the identity token, on the profile', async () => {
  const agent = await fundedAgent()
  const { status, body } = await mint(agent)
  expect(status).toBe(200)
  expect(body.data).toEqual({
    operation_id: expect.stringMatching(/^wop_/),
    said_wallet: await walletOf(market, agent.id),
    said_pda: expect.stringMatching(ADDRESS),
    tx_signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
    note: expect.stringContaining('cannot be transferred'),
  })
  const profile = await market.client().get(`/api/agents/${agent.id}`)
  expect(profile.body.data.agent.identity_mint).toBe(body.data.said_pda)
})

test('202: not final when the wait ends; repeated it returns the result', async () => {
  const agent = await fundedAgent()
  const api = await market.startApi(SHORT_WAIT)
  const first = await market.whilePaused(() => mint(agent, {}, api))
  expect(first.status).toBe(202)
  expect(first.body.data).toMatchObject({ said_pda: null, tx_signature: null })
  const again = await untilEnded(() => mint(agent, {}, api))
  expect(again.status).toBe(200)
  expect(again.body.data).toMatchObject({
    operation_id: first.body.data.operation_id,
    said_pda: expect.stringMatching(ADDRESS),
  })
})

test('400: an invalid id', async () => {
  const { apiKey } = await makeOwnedAgent(market)
  invalid(await mint({ id: 'agt_', apiKey }), 'agent_id')
})

test('402: an empty wallet; nothing is charged and nothing is stored', async () => {
  const agent = await makeOwnedAgent(market)
  const { body } = await market.client().get('/api/agents/me/funding', { bearer: agent.apiKey })
  const data = {
    required_sol: body.data.requirements.said.required_sol,
    balance_sol: 0,
    deposit_address: body.data.deposit_address,
  }
  rejected(await mint(agent), 402, 'agent_wallet_underfunded', { data })
  const stored = await market.db
    .selectFrom('wallet_transactions')
    .selectAll()
    .where('agent_id', '=', agent.id)
    .execute()
  expect(stored).toEqual([])
})

test('403: another agent’s key, an agent that does not exist, the owner, and an admin key', async () => {
  const [agent, other] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  for (const id of [agent.id, NO_AGENT])
    rejected(await mint({ id, apiKey: other.apiKey }), 403, 'not_your_agent')
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  for (const apiKey of [token, ADMIN_KEY])
    rejected(await mint({ id: agent.id, apiKey }), 403, 'wrong_credential')
})

test('409: a second identity, one in progress, and a wallet that is busy', async () => {
  const agent = await fundedAgent()
  expect((await mint(agent)).status).toBe(200)
  rejected(await mint(agent), 409, 'identity_exists')
  await market.whilePaused(async () => {
    const minting = await fundedAgent()
    const started = await insertOperation(market, minting.id, { kind: 'identity' })
    rejected(await mint(minting), 409, 'operation_in_progress', { operation_id: started })
    const busy = await fundedAgent()
    const operation_id = await insertOperation(market, busy.id, { kind: 'withdraw' })
    rejected(await mint(busy), 409, 'wallet_busy', { operation_id })
  })
})

test('503: while no Solana node is configured', async () => {
  const away = await startMarket()
  try {
    const agent = await makeOwnedAgent(away)
    const reply = await away.client().post(pathOf(agent.id), {}, { bearer: agent.apiKey })
    rejected(reply, 503, 'wallets_unavailable')
  } finally {
    await away.stop()
  }
})
