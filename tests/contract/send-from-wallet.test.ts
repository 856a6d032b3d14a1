import { operations } from '@market/contract/operations'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  fundToken,
  insertOperation,
  makeWalletAgent,
  NO_AGENT,
  PAYEE,
  signedBy,
  startWalletMarket,
  untilEnded,
  type WalletMarket,
} from '../support/agent-wallets.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, DESCRIPTION, makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY, SHORT_WAIT } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/agents/${id}/wallet/send`
const SEND = { chain: 'solana', asset: 'SOL', to: PAYEE, amount: 0.1 as number | string }

type Api = Pick<WalletMarket, 'client'>
let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

type OwnedAgent = Awaited<ReturnType<typeof makeWalletAgent>>

/** The purpose names everything that is sent. No amount is everything. */
const purposeOf = (id: string, { asset, to, amount }: Partial<typeof SEND>) =>
  `wallets.send:${id}:${asset}:${to}:${amount ?? ''}`

const send = (id: string, body: unknown, ask?: RequestOptions, { client }: Api = market) =>
  client().post(pathOf(id), body, ask)

const sendSigned = async (
  { id, owner }: Pick<OwnedAgent, 'id'> & { owner: Parameters<typeof signedBy>[0] },
  body: Partial<typeof SEND>,
  api?: Api,
) => send(id, body, await signedBy(owner, purposeOf(id, body)), api)

async function fundedAgent() {
  const agent = await makeWalletAgent(market)
  await market.fund(agent.id)
  return agent
}

let last: OwnedAgent
const subject: Subject = {
  market: () => market,
  operation: operations.sendFromWallet,
  good: async () => {
    last = await fundedAgent()
    return {
      path: pathOf(last.id),
      body: SEND,
      ask: await signedBy(last.owner, purposeOf(last.id, SEND)),
    }
  },
}
commonWriteErrors({
  ...subject,
  waits: true,
  other: async () => ({
    method: 'PATCH',
    path: `/api/agents/${last.id}`,
    body: { description: DESCRIPTION },
    ask: await signedBy(last.owner, `agents.update:${last.id}`),
  }),
})

test('200: sends what the owner wallet signed, on either chain of wallets', async () => {
  const to = (await solanaSigner()).address
  for (const agent of [await makeOwnedAgent(market), await makeWalletAgent(market)]) {
    await market.fund(agent.id, { micros: 2_000_000n })
    const usdc = await sendSigned(agent, { ...SEND, asset: 'USDC', to, amount: 1.5 })
    expect(usdc.status).toBe(200)
    expect(usdc.body.data).toMatchObject({ kind: 'send', status: 'done', asset: 'USDC', amount: 1.5, to })
    const { amount: _, ...everything } = SEND
    const sol = await sendSigned(agent, { ...everything, to })
    expect(sol.body.data).toMatchObject({ status: 'done', asset: 'SOL', to, mint: null, failure: null })
    expect(sol.body.data.tx_signature).toMatch(/\S/)
  }
})

test('200: sends a token that the owner wallet signed by its mint and amount', async () => {
  const agent = await fundedAgent()
  const asset = await fundToken(market, agent.id, 1_500_000_000n)
  const to = (await solanaSigner()).address
  const { status, body } = await sendSigned(agent, { ...SEND, asset, to, amount: '1.5' })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ kind: 'send', status: 'done', asset, amount: '1.5', to })
})

test('202: not final when the wait ends', async () => {
  const agent = await fundedAgent()
  const api = await market.startApi(SHORT_WAIT)
  const { status, body } = await market.whilePaused(() => sendSigned(agent, SEND, api))
  expect(status).toBe(202)
  expect(body.data).toMatchObject({ status: 'requested', tx_signature: null })
})

test('400: an invalid id, chain, asset, address or amount', async () => {
  const { owner } = await makeOwnedAgent(market)
  const ask = () => signedBy(owner, 'session')
  const { id } = await makeOwnedAgent(market)
  const cases = [
    ['chain', { ...SEND, chain: 'base' }],
    ['asset', { ...SEND, asset: 'ETH' }],
    ['to', { ...SEND, to: `0x${'1'.repeat(40)}` }],
    ['to', { ...SEND, to: PAYEE.slice(0, 31) }],
    ['amount', { ...SEND, amount: 0 }],
    ['amount', { ...SEND, amount: -1 }],
    ['amount', { ...SEND, amount: 1_000_001 }],
    ['amount', { ...SEND, amount: 1e-10 }],
  ] as const
  for (const [path, body] of cases) {
    const reply = await send(id, body, await signedBy(owner, purposeOf(id, body as typeof SEND)))
    invalid(reply, path)
  }
  const precise = { ...SEND, asset: 'USDC', amount: 0.1234567 }
  invalid(await sendSigned({ id, owner }, precise), 'amount')
  expect((await send('agt_', SEND, await ask())).status).toBeGreaterThanOrEqual(400)
})

test('400: an address that cannot receive it: the server wallet itself, and the mint of USDC', async () => {
  const agent = await makeOwnedAgent(market)
  const address = await market.fund(agent.id)
  const { usdc } = market.chains['solana-mainnet'].chain
  for (const to of [address, usdc.mint])
    rejected(await sendSigned(agent, { ...SEND, to }), 400, 'bad_destination', {
      details: [{ path: 'to', message: expect.stringMatching(/\S/) }],
    })
})

test('400: an asset that is no mint of a token', async () => {
  const agent = await fundedAgent()
  rejected(await sendSigned(agent, { ...SEND, asset: PAYEE, amount: '1' }), 400, 'bad_asset', {
    details: [{ path: 'asset', message: 'it is not the mint of a token on Solana' }],
  })
})

test('401: a signature that is expired, was used before or names another amount', async () => {
  const agent = await fundedAgent()
  const purpose = purposeOf(agent.id, SEND)
  for (const [code, proof] of await badSignatures(await solanaSigner(), purpose, market.wallTime()))
    rejected(await send(agent.id, SEND, { headers: asHeaders(proof) }), 401, code)
  const other = await signedBy(agent.owner, purposeOf(agent.id, { ...SEND, amount: 0.2 }))
  rejected(await send(agent.id, SEND, other), 401, 'bad_signature')
  const once = await signedBy(agent.owner, purpose)
  expect((await send(agent.id, SEND, once)).status).toBe(200)
  rejected(await send(agent.id, SEND, once), 401, 'signature_used')
})

test('402: an empty wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const data = {
    required_sol: expect.any(Number),
    balance_sol: 0,
    deposit_address: expect.stringMatching(/\S/),
  }
  rejected(await sendSigned(agent, SEND), 402, 'agent_wallet_underfunded', { data })
})

test('403: the API key, the owner’s login, another wallet, and an agent without an owner wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  for (const bearer of [agent.apiKey, token, ADMIN_KEY])
    rejected(await send(agent.id, SEND, { bearer }), 403, 'wrong_credential')
  const other = { id: agent.id, owner: await solanaSigner() }
  rejected(await sendSigned(other, SEND), 403, 'not_your_agent')
  const hidden = await makeAgent(market)
  rejected(await sendSigned({ id: hidden.id, owner: other.owner }, SEND), 403, 'owner_wallet_required')
})

test('404: an agent that does not exist', async () => {
  const owner = await solanaSigner()
  rejected(await sendSigned({ id: NO_AGENT, owner }, SEND), 404, 'agent_not_found')
})

test('409: too little USDC, and a wallet that is busy', async () => {
  const agent = await fundedAgent()
  rejected(await sendSigned(agent, { ...SEND, asset: 'USDC' }), 409, 'insufficient_usdc')
  const asset = await fundToken(market, agent.id, 1n)
  rejected(await sendSigned(agent, { ...SEND, asset, amount: '1' }), 409, 'insufficient_token')
  await market.whilePaused(async () => {
    const operation_id = await insertOperation(market, agent.id, { kind: 'identity' })
    rejected(await sendSigned(agent, SEND), 409, 'wallet_busy', { operation_id })
  })
})

test('409: a busy wallet is not stored for the Idempotency-Key, so the same request succeeds later', async () => {
  const agent = await fundedAgent()
  const key = 'send-while-busy'
  const sendAgain = async () =>
    send(agent.id, SEND, { ...(await signedBy(agent.owner, purposeOf(agent.id, SEND))), key })
  await market.whilePaused(async () => {
    const id = await insertOperation(market, agent.id, { kind: 'identity' })
    rejected(await sendAgain(), 409, 'wallet_busy', { operation_id: id })
    const ended = { status: 'failed', failure: 'bad_metadata' }
    await market.db.updateTable('wallet_transactions').set(ended).where('id', '=', id).execute()
  })
  expect((await untilEnded(sendAgain)).status).toBe(200)
})

test('503: while no Solana node is configured', async () => {
  const away = await startMarket()
  try {
    const agent = await makeOwnedAgent(away)
    const ask = await signedBy(agent.owner, purposeOf(agent.id, SEND))
    const reply = await away.client().post(pathOf(agent.id), SEND, ask)
    rejected(reply, 503, 'wallets_unavailable')
  } finally {
    await away.stop()
  }
})
