import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  fundToken,
  insertOperation,
  insertWithdrawAddress,
  makeWalletAgent,
  PAYEE,
  signedBy,
  startWalletMarket,
  type WalletMarket,
  walletOf,
} from '../support/agent-wallets.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { DESCRIPTION, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY, SHORT_WAIT } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/agents/me/withdraw'

type Api = Pick<WalletMarket, 'client'>
let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
  // The worker counts from when the database stored a withdraw address, which is real time.
  await market.advance(2 * DAY)
})
afterAll(() => market.stop())

const withdraw = ({ apiKey }: { apiKey: string }, body: unknown, { client }: Api = market) =>
  client().post(PATH, body, { bearer: apiKey })

/** An agent with a withdraw address, and with SOL and USDC. */
async function fundedAgent(micros = 0n) {
  const agent = await makeOwnedAgent(market)
  await market.fund(agent.id, { micros })
  await insertWithdrawAddress(market, agent)
  return agent
}

const subject: Subject = {
  market: () => market,
  operation: operations.withdraw,
  good: async () => {
    const { apiKey } = await fundedAgent()
    return { path: PATH, body: { asset: 'SOL', amount: 0.1 }, ask: { bearer: apiKey } }
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

const SENT = {
  operation_id: expect.stringMatching(/^wop_\d{13}_[0-9a-z]{17}$/),
  ...{ kind: 'withdraw', status: 'done', to: PAYEE, mint: null, failure: null, hold_code: null },
  tx_signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
  created_at: expect.stringMatching(INSTANT),
  updated_at: expect.stringMatching(INSTANT),
}

test('200: sends SOL and USDC to the withdraw address, and notifies the owner', async () => {
  const agent = await makeWalletAgent(market)
  await market.fund(agent.id, { micros: 3_000_000n })
  await insertWithdrawAddress(market, agent)
  const some = await withdraw(agent, { asset: 'USDC', amount: 1.25 })
  expect(some.status).toBe(200)
  expect(some.body.data).toEqual({ ...SENT, asset: 'USDC', amount: 1.25 })
  const rest = await withdraw(agent, { asset: 'USDC' })
  expect(rest.body.data).toEqual({ ...SENT, asset: 'USDC', amount: 1.75 })
  const all = await withdraw(agent, { asset: 'SOL' })
  expect(all.body.data).toMatchObject({ ...SENT, asset: 'SOL', amount: expect.any(Number) })
  const funding = await market.client().get('/api/agents/me/funding', { bearer: agent.apiKey })
  expect(funding.body.data).toMatchObject({ balance_sol: 0, balance_usdc: 0 })
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  // A later notification of the same kind replaces an unread one.
  expect(inbox.body.data).toMatchObject([
    { kind: 'agent.wallet_sent', data: { operation_id: all.body.data.operation_id, to: PAYEE } },
  ])
})

test('200: sends a token by its mint, in the decimals of the mint', async () => {
  const agent = await fundedAgent()
  const mint = await fundToken(market, agent.id, 2_000_000_001n)
  const some = await withdraw(agent, { asset: mint, amount: '0.000000001' })
  expect(some.status).toBe(200)
  expect(some.body.data).toEqual({ ...SENT, asset: mint, amount: '0.000000001' })
  const funding = await market.client().get('/api/agents/me/funding', { bearer: agent.apiKey })
  expect(funding.body.data.tokens).toEqual([{ mint, amount: '2', decimals: 9 }])
  expect((await withdraw(agent, { asset: mint })).body.data).toEqual({ ...SENT, asset: mint, amount: '2' })
})

test('202: not final when the wait ends; the operations show its result', async () => {
  const agent = await fundedAgent()
  const api = await market.startApi(SHORT_WAIT)
  const wanted = { asset: 'SOL', amount: 0.1 }
  const { status, body } = await market.whilePaused(() => withdraw(agent, wanted, api))
  expect(status).toBe(202)
  expect(body.data).toMatchObject({ status: 'requested', amount: 0.1, tx_signature: null })
})

test('400: an unknown asset, and an amount that is not positive, too large or too precise', async () => {
  const agent = await fundedAgent()
  for (const asset of [undefined, 'ETH', 'sol']) invalid(await withdraw(agent, { asset }), 'asset')
  for (const amount of [0, -1, '1', 1_000_001, 1e-10, 0.1234567891])
    invalid(await withdraw(agent, { asset: 'SOL', amount }), 'amount')
  invalid(await withdraw(agent, { asset: 'USDC', amount: 0.1234567 }), 'amount')
})

test('400: an amount of a token that is a number, is written in another way, is too precise, or is nothing', async () => {
  const agent = await fundedAgent()
  const asset = await fundToken(market, agent.id, 5n)
  for (const amount of [
    1,
    '01',
    '1.50',
    '1.',
    '.5',
    '1e3',
    '-1',
    '',
    '0.0000000001',
    '0',
    '18446744073.709551616',
  ])
    invalid(await withdraw(agent, { asset, amount }), 'amount')
})

test('400: an asset that is no mint, cannot be transferred, or is USDC by its mint', async () => {
  const agent = await fundedAgent()
  const { usdc } = market.chains['solana-mainnet'].chain
  for (const asset of [PAYEE, usdc.mint]) {
    const details = [{ path: 'asset', message: expect.stringMatching(/^it is /) }]
    rejected(await withdraw(agent, { asset }), 400, 'bad_asset', { details })
  }
})

test('402: names what is required, what is there and where to send it; nothing is stored', async () => {
  const agent = await makeOwnedAgent(market)
  await insertWithdrawAddress(market, agent)
  const data = {
    required_sol: expect.any(Number),
    balance_sol: 0,
    deposit_address: await walletOf(market, agent.id),
  }
  for (const body of [{ asset: 'SOL' }, { asset: 'SOL', amount: 0.5 }])
    rejected(await withdraw(agent, body), 402, 'agent_wallet_underfunded', { data })
  const stored = await market.db
    .selectFrom('wallet_transactions')
    .selectAll()
    .where('agent_id', '=', agent.id)
    .execute()
  expect(stored).toEqual([])
})

test('403: the owner and an admin key, because only the API key withdraws', async () => {
  const agent = await makeOwnedAgent(market)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  for (const bearer of [token, ADMIN_KEY])
    rejected(await market.client().post(PATH, { asset: 'SOL' }, { bearer }), 403, 'wrong_credential')
  const signature = await signedBy(agent.owner, 'session')
  rejected(await market.client().post(PATH, { asset: 'SOL' }, signature), 403, 'wrong_credential')
})

test('409: no withdraw address in effect, too little USDC, and a wallet that is busy', async () => {
  const without = await makeOwnedAgent(market)
  rejected(await withdraw(without, { asset: 'SOL' }), 409, 'no_withdraw_address')
  const agent = await fundedAgent()
  rejected(await withdraw(agent, { asset: 'USDC', amount: 1 }), 409, 'insufficient_usdc')
  const mint = await fundToken(market, agent.id, 1n)
  const more = await withdraw(agent, { asset: mint, amount: '0.000000002' })
  rejected(more, 409, 'insufficient_token')
  expect(more.body.error).toBe(
    `The wallet holds 0.000000001 of the token ${mint}, and 0.000000002 of the token ${mint} is needed. Nothing was sent. Send less.`,
  )
  await market.whilePaused(async () => {
    const operation_id = await insertOperation(market, agent.id, { kind: 'identity' })
    rejected(await withdraw(agent, { asset: 'SOL' }), 409, 'wallet_busy', { operation_id })
  })
})

test('409: more than the wallet may send in 24 hours, also when an Idempotency-Key is sent', async () => {
  const agent = await fundedAgent()
  await market.fund(agent.id, { sol: 20_000_000_000n })
  for (const headers of [{}, { 'idempotency-key': 'k'.repeat(32) }]) {
    const reply = await market
      .client()
      .post(PATH, { asset: 'SOL', amount: 11 }, { bearer: agent.apiKey, headers })
    rejected(reply, 409, 'wallet_cap_exceeded', { operation_id: expect.stringMatching(/^wop_/) })
  }
})

test('503: while no Solana node is configured', async () => {
  const away = await startMarket()
  try {
    const { apiKey } = await makeOwnedAgent(away)
    const reply = await away.client().post(PATH, { asset: 'SOL' }, { bearer: apiKey })
    rejected(reply, 503, 'wallets_unavailable')
  } finally {
    await away.stop()
  }
})
