import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertOperation,
  insertToken,
  linkX,
  NO_AGENT,
  signedBy,
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

const pathOf = (id: string) => `/api/agents/${id}/token/launch`
const IMAGE = 'https://hooks.example/token.png'
const AVATAR = { avatar_url: 'https://hooks.example/avatar.png' }
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

type Api = Pick<WalletMarket, 'client'>
let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

const TOK = { symbol: 'TOK' }
const launch = (
  { id, apiKey }: { id: string; apiKey: string },
  body: unknown = TOK,
  { client }: Api = market,
) => client().post(pathOf(id), body, { bearer: apiKey })

/** With an avatar, an X account and SOL. */
async function readyAgent(fields: Record<string, unknown> = AVATAR, sol = 1_000_000_000n) {
  const agent = await makeOwnedAgent(market, fields)
  await linkX(market, agent.id)
  if (sol > 0n) await market.fund(agent.id, { sol })
  return agent
}

const operationsOf = (agentId: string) =>
  market.db.selectFrom('wallet_transactions').selectAll().where('agent_id', '=', agentId).execute()

const subject: Subject = {
  market: () => market,
  operation: operations.launchToken,
  good: async () => {
    const { id, apiKey } = await readyAgent()
    return { path: pathOf(id), body: { symbol: 'TOK' }, ask: { bearer: apiKey } }
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

test('200: the mint, on the profile and as the token, with the name of the agent and the suffix', async () => {
  const agent = await readyAgent()
  const { status, body } = await launch({ ...agent, id: 'me' }, { symbol: 'TOK', image_url: IMAGE })
  expect(status).toBe(200)
  const wallet = await walletOf(market, agent.id)
  expect(body.data).toEqual({
    operation_id: expect.stringMatching(/^wop_/),
    mint: expect.stringMatching(ADDRESS),
    tx_signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
    creator_wallet: wallet,
    note: expect.stringContaining('Token-2022'),
  })
  const token = await market.client().get(`/api/agents/${agent.slug}/token`)
  const token_name = `${agent.name} by Market`
  expect(token.body.data).toMatchObject({
    ...{ token_mint: body.data.mint, token_name, token_symbol: 'TOK', token_mode: 'token2022' },
    ...{ token_creator_wallet: wallet, token_image_url: IMAGE, token_tx_hash: body.data.tx_signature },
  })
  const document = await market.client().get(`/api/agents/${agent.id}/token/metadata`)
  expect(document.body).toMatchObject({ name: token_name, symbol: 'TOK', image: IMAGE })
  expect(document.body['description']).toBe(DESCRIPTION)
  const profile = await market.client().get(`/api/agents/${agent.id}`)
  expect(profile.body.data.agent.token_mint).toBe(body.data.mint)
})

test('202: not final when the wait ends; repeated it returns the result, and launches once', async () => {
  const agent = await readyAgent()
  const api = await market.startApi(SHORT_WAIT)
  const first = await market.whilePaused(() => launch(agent, TOK, api))
  expect(first.status).toBe(202)
  expect(first.body.data).toMatchObject({
    mint: null,
    tx_signature: null,
    creator_wallet: await walletOf(market, agent.id),
    note: expect.stringContaining('Repeat this request'),
  })
  const again = await untilEnded(() => launch(agent, TOK, api))
  expect(again.status).toBe(200)
  expect(again.body.data).toMatchObject({
    operation_id: first.body.data.operation_id,
    mint: expect.stringMatching(ADDRESS),
  })
  expect((await launch(agent, TOK, api)).body).toEqual(again.body)
  expect(await operationsOf(agent.id)).toHaveLength(1)
  rejected(await launch(agent, { symbol: 'OTHER' }, api), 409, 'token_exists')
})

test('400: a symbol of 0 or 11 characters, a description of 19 or 501, and an image that is not https', async () => {
  const agent = await readyAgent()
  for (const symbol of [undefined, '', 'x'.repeat(11)]) invalid(await launch(agent, { symbol }), 'symbol')
  for (const description of ['x'.repeat(19), 'x'.repeat(501)])
    invalid(await launch(agent, { symbol: 'TOK', description }), 'description')
  invalid(await launch(agent, { symbol: 'TOK', image_url: 'http://hooks.example/x.png' }), 'image_url')
})

test('400: no image, no X account, and an agent whose description is too short', async () => {
  const plain = await readyAgent({}, 0n)
  invalid(await launch(plain), 'image_url')
  const short = await readyAgent({ ...AVATAR, description: 'A short description'.slice(0, 19) }, 0n)
  invalid(await launch(short), 'description')
  const withoutX = await makeOwnedAgent(market, AVATAR)
  rejected(await launch(withoutX), 400, 'x_account_missing')
})

test('200: symbols and descriptions at their bounds', async () => {
  for (const body of [
    { symbol: 'x', description: 'x'.repeat(20) },
    { symbol: 'x'.repeat(10), description: 'x'.repeat(500) },
  ])
    expect((await launch(await readyAgent(), body)).status).toBe(200)
})

test('402: a wallet with too little SOL; nothing is charged and nothing is stored', async () => {
  const agent = await readyAgent(AVATAR, 29_999_999n)
  const { body } = await market.client().get('/api/agents/me/funding', { bearer: agent.apiKey })
  const data = {
    required_sol: body.data.requirements.launch.required_sol,
    balance_sol: 0.029999999,
    deposit_address: body.data.deposit_address,
  }
  rejected(await launch(agent), 402, 'agent_wallet_underfunded', { data })
  expect(await operationsOf(agent.id)).toEqual([])
})

test('403: another agent’s key, the owner, and an admin key', async () => {
  const [agent, other] = [await readyAgent(AVATAR, 0n), await makeOwnedAgent(market)]
  rejected(await launch({ id: agent.id, apiKey: other.apiKey }), 403, 'not_your_agent')
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  for (const apiKey of [token, ADMIN_KEY])
    rejected(await launch({ id: agent.id, apiKey }), 403, 'wrong_credential')
  const signature = await signedBy(agent.owner, 'session')
  rejected(await market.client().post(pathOf(agent.id), { symbol: 'T' }, signature), 403, 'wrong_credential')
})

test('403: an agent that does not exist is not the agent of the key', async () => {
  const { apiKey } = await makeOwnedAgent(market)
  rejected(await launch({ id: NO_AGENT, apiKey }), 403, 'not_your_agent')
})

test('409: a registered token, a launch in progress, and a wallet that is busy', async () => {
  const registered = await readyAgent()
  await insertToken(market, registered.id)
  rejected(await launch(registered), 409, 'token_exists')
  await market.whilePaused(async () => {
    const launching = await readyAgent()
    const started = await insertOperation(market, launching.id, { kind: 'launch' })
    rejected(await launch(launching), 409, 'operation_in_progress', { operation_id: started })
    const busy = await readyAgent()
    const operation_id = await insertOperation(market, busy.id, { kind: 'identity' })
    rejected(await launch(busy), 409, 'wallet_busy', { operation_id })
  })
})

test('503: while no Solana node is configured', async () => {
  const away = await startMarket()
  try {
    const agent = await makeOwnedAgent(away, AVATAR)
    await linkX(away, agent.id)
    const reply = await away.client().post(pathOf(agent.id), { symbol: 'T' }, { bearer: agent.apiKey })
    rejected(reply, 503, 'wallets_unavailable')
  } finally {
    await away.stop()
  }
})
