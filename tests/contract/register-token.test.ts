import { operations } from '@market/contract/operations'
import { type SolanaSigner, solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertOperation,
  makeWalletAgent,
  NO_AGENT,
  signedBy,
  startWalletMarket,
  type WalletMarket,
} from '../support/agent-wallets.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, DESCRIPTION, makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/agents/${id}/token`
const purposeOf = (id: string, mint: string) => `tokens.register:${id}:${mint}`
const HASH = '5'.repeat(88)

let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

const tokenOf = async (owner: { address: string }) => ({
  token_mint: (await solanaSigner()).address,
  token_name: 'A Token',
  token_symbol: 'TOK',
  token_mode: 'pumpfun',
  token_creator_wallet: owner.address,
})

const register = (id: string, body: unknown, ask?: RequestOptions) =>
  market.client().post(pathOf(id), body, ask)

/** Signed for the mint of the body. */
const registerSigned = async (
  { id, owner }: { id: string; owner: Pick<SolanaSigner, 'address' | 'sign'> },
  body: Record<string, unknown>,
) => register(id, body, await signedBy(owner, purposeOf(id, String(body['token_mint']))))

let last: Awaited<ReturnType<typeof makeWalletAgent>>
const subject: Subject = {
  market: () => market,
  operation: operations.registerToken,
  good: async () => {
    last = await makeWalletAgent(market)
    const body = await tokenOf(last.owner)
    return {
      path: pathOf(last.id),
      body,
      ask: await signedBy(last.owner, purposeOf(last.id, body.token_mint)),
    }
  },
}
commonWriteErrors({
  ...subject,
  other: async () => ({
    method: 'PATCH',
    path: `/api/agents/${last.id}`,
    body: { description: DESCRIPTION },
    ask: await signedBy(last.owner, `agents.update:${last.id}`),
  }),
})

test('201: the token of the agent, on its profile and in the activity', async () => {
  const agent = await makeWalletAgent(market)
  const body = { ...(await tokenOf(agent.owner)), token_image_url: 'https://hooks.example/token.png' }
  const { status, body: created } = await registerSigned(agent, body)
  expect(status).toBe(201)
  expect(created.data).toEqual({
    agent_id: agent.id,
    ...body,
    token_name: 'A Token by Market',
    token_tx_hash: null,
    created_at: expect.stringMatching(INSTANT),
  })
  expect((await market.client().get(pathOf(agent.id))).body.data).toEqual(created.data)
  const profile = await market.client().get(`/api/agents/${agent.id}`)
  expect(profile.body.data.agent.token_mint).toBe(body.token_mint)
  const activity = await market.client().get('/api/metrics/activity?limit=1')
  expect(activity.body.data).toMatchObject([{ kind: 'token_launch' }])
})

test('201: the name gets the suffix of the platform, once', async () => {
  for (const [given, stored] of [
    ['Bakery', 'Bakery by Market'],
    ['Bakery by Market', 'Bakery by Market'],
    ['x'.repeat(32), `${'x'.repeat(22)} by Market`],
  ]) {
    const agent = await makeWalletAgent(market)
    const made = await registerSigned(agent, { ...(await tokenOf(agent.owner)), token_name: given })
    expect(made.body.data.token_name).toBe(stored)
  }
})

test('201: a wallet that is linked to the user who owns the agent', async () => {
  const linked = await solanaSigner()
  const { token } = await makeUser(market, { wallets: [linked.address] })
  const { id } = await makeAgent(market, { idp_access_token: token })
  const stranger = await solanaSigner()
  rejected(await registerSigned({ id, owner: stranger }, await tokenOf(stranger)), 403, 'not_your_agent')
  expect((await registerSigned({ id, owner: linked }, await tokenOf(linked))).status).toBe(201)
})

test('403: an agent without an owner', async () => {
  const { id } = await makeAgent(market)
  const owner = await solanaSigner()
  rejected(await registerSigned({ id, owner }, await tokenOf(owner)), 403, 'not_your_agent')
})

test('201: names and symbols at their bounds', async () => {
  for (const [token_name, token_symbol] of [
    ['x', 'y'],
    ['x'.repeat(32), 'y'.repeat(10)],
  ]) {
    const agent = await makeWalletAgent(market)
    const body = { ...(await tokenOf(agent.owner)), token_name, token_symbol }
    expect((await registerSigned(agent, body)).status).toBe(201)
  }
})

test('400: a field that is missing, out of its bounds or of another form', async () => {
  const agent = await makeWalletAgent(market)
  const good = await tokenOf(agent.owner)
  const cases = [
    ['token_name', ''],
    ['token_name', 'x'.repeat(33)],
    ['token_symbol', ''],
    ['token_symbol', 'y'.repeat(11)],
    ['token_mode', 'token2022'],
    ['token_creator_wallet', `0x${'1'.repeat(40)}`],
    ['token_image_url', 'http://hooks.example/token.png'],
    ['token_tx_hash', '5'.repeat(63)],
    ['token_tx_hash', '5'.repeat(89)],
    ['token_tx_hash', `0x${'1'.repeat(64)}`],
  ] as const
  for (const [field, value] of cases) invalid(await registerSigned(agent, { ...good, [field]: value }), field)
})

test('400: a transaction that does not prove the token', async () => {
  const agent = await makeWalletAgent(market)
  const body = { ...(await tokenOf(agent.owner)), token_tx_hash: HASH }
  rejected(await registerSigned(agent, body), 400, 'token_not_proven', {
    details: [{ path: 'token_tx_hash', message: expect.stringMatching(/\S/) }],
  })
})

test('401: a signature that is expired or names another mint', async () => {
  const agent = await makeWalletAgent(market)
  const body = await tokenOf(agent.owner)
  const purpose = purposeOf(agent.id, body.token_mint)
  for (const [code, proof] of await badSignatures(agent.owner, purpose, market.wallTime()))
    rejected(await register(agent.id, body, { headers: asHeaders(proof) }), 401, code)
})

test('403: other credentials, another wallet, another creator, and an owner wallet on Base', async () => {
  const agent = await makeWalletAgent(market)
  const body = await tokenOf(agent.owner)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  for (const bearer of [agent.apiKey, token, ADMIN_KEY])
    rejected(await register(agent.id, body, { bearer }), 403, 'wrong_credential')
  const stranger = await solanaSigner()
  const theirs = await tokenOf(stranger)
  rejected(await registerSigned({ id: agent.id, owner: stranger }, theirs), 403, 'not_your_agent')
  rejected(await registerSigned(agent, { ...body, ...theirs }), 403, 'wrong_wallet')
  const onBase = await makeOwnedAgent(market)
  rejected(await registerSigned(onBase, body), 403, 'wrong_wallet')
})

test('404: an agent that does not exist', async () => {
  const owner = await solanaSigner()
  rejected(await registerSigned({ id: NO_AGENT, owner }, await tokenOf(owner)), 404, 'agent_not_found')
})

test('409: a second token, the mint of another agent, a launch, and a mint that a launch creates', async () => {
  const agent = await makeWalletAgent(market)
  const body = await tokenOf(agent.owner)
  expect((await registerSigned(agent, body)).status).toBe(201)
  rejected(await registerSigned(agent, await tokenOf(agent.owner)), 409, 'token_exists')
  const other = await makeWalletAgent(market)
  const sameMint = { ...(await tokenOf(other.owner)), token_mint: body.token_mint }
  rejected(await registerSigned(other, sameMint), 409, 'mint_taken')
  await market.whilePaused(async () => {
    const launching = await makeWalletAgent(market)
    const id = await insertOperation(market, launching.id, { kind: 'launch' })
    rejected(await registerSigned(launching, await tokenOf(launching.owner)), 409, 'token_exists')
    const mint = (await solanaSigner()).address
    await market.db.updateTable('wallet_transactions').set({ mint }).where('id', '=', id).execute()
    rejected(await registerSigned(other, { ...sameMint, token_mint: mint }), 409, 'mint_taken')
    const ended = { status: 'failed', failure: 'expired' }
    await market.db.updateTable('wallet_transactions').set(ended).where('id', '=', id).execute()
  })
})

test('503: a transaction to prove while no Solana node is configured', async () => {
  const away = await startMarket()
  try {
    const agent = await makeWalletAgent(away)
    const body = { ...(await tokenOf(agent.owner)), token_tx_hash: HASH }
    const ask = await signedBy(agent.owner, purposeOf(agent.id, body.token_mint))
    rejected(await away.client().post(pathOf(agent.id), body, ask), 503, 'wallets_unavailable')
  } finally {
    await away.stop()
  }
})
