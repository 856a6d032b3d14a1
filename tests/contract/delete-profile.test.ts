import { operations } from '@market/contract/operations'
import { type Tx, transact } from '@market/database/transact'
import { eraseAccount, lockAccountOpen } from '@market/identity/accounts'
import { lockAgentsOfUser } from '@market/identity/agents'
import { systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { evmSigner } from '@market/testing/evm-signer'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { fundToken, insertOperation, startWalletMarket, type WalletMarket } from '../support/agent-wallets.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { giveShares, insertDeposit, startPools } from '../support/earn.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { makeFailed, makePayout } from '../support/treasury.ts'
import { until } from '../support/until.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/profile'

let world: OrderWorld
let market: Market
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
})
afterAll(() => world.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.deleteProfile,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, PATH)

const remove = (bearer: string, headers: Record<string, string> = {}) =>
  market.client().send('DELETE', PATH, { bearer, headers })

const userRow = (sub: string) =>
  market.db.selectFrom('users').selectAll().where('idp_user_id', '=', sub).executeTakeFirstOrThrow()

const ids = idSource(systemClock)

const BRIEF = 'My address is 1 Main Street.'

/** A user's order of another agent's service, unpaid. */
async function orderOf(token: string) {
  const { id: agentId, apiKey } = await makeAgent(market)
  const owner = await makeUser(market)
  await market.client().post('/api/agents/link', { api_key: apiKey }, { bearer: owner.token })
  const service = await makeService(market, { id: agentId, apiKey })
  const body = { service_id: service.id, brief: BRIEF, reference_urls: ['https://hooks.example/me'] }
  const { body: made } = await market.client().post('/api/orders', body, { bearer: token })
  return { id: String(made.data.id), sellerKey: apiKey }
}

const cancel = (id: string, bearer: string) =>
  market.client().send('PATCH', `/api/orders/${id}`, { bearer, body: { action: 'cancel' } })

let written = 0

/** A message as it is stored. A thread opens with a payment, which is no part of these tests. */
async function write(orderId: string, sender: 'client' | 'agent', name: string, content: string) {
  written += 1
  const created_at = new Date(Date.now() + written)
  const id = `msg_${created_at.getTime()}_${'0'.repeat(17)}`
  const message = { id, order_id: orderId, sender_type: sender, sender_name: name, content, created_at }
  await market.db.insertInto('order_messages').values(message).execute()
}

test('200: removes profile, wallets and notifications; the account is then 404, and a replay returns the response (asvs V14.2)', async () => {
  const wallet = evmSigner().address
  const { sub, token } = await makeUser(market, { wallets: [wallet] })
  await market.client().put(PATH, { bio: 'About me' }, { bearer: token })
  const headers = { 'idempotency-key': `delete-${sub}` }
  const first = await remove(token, headers)
  expect([first.status, first.body]).toEqual([
    200,
    { success: true, data: { deleted_at: expect.stringMatching(INSTANT) } },
  ])
  expect((await remove(token, headers)).body).toEqual(first.body)
  const { created_at, updated_at, deleted_at, ...rest } = await userRow(sub)
  expect(deleted_at).not.toBeNull()
  const gone = { username: null, display_name: null, twitter_username: null, google_email: null }
  expect(rest).toEqual({ idp_user_id: sub, ...gone, avatar_url: null, bio: null })
  const wallets = await market.db
    .selectFrom('user_wallets')
    .selectAll()
    .where('idp_user_id', '=', sub)
    .execute()
  expect(wallets).toEqual([])
  rejected(await market.client().get(PATH, { bearer: token }), 404, 'no_account')
  rejected(await market.client().put(PATH, { bio: 'Back' }, { bearer: token }), 404, 'no_account')
  const entries = await market.db
    .selectFrom('audit_log')
    .select(['act', 'actor'])
    .where('subject', '=', `user:${sub}`)
    .execute()
  expect(entries).toEqual([{ act: 'account.deleted', actor: `user:${sub}` }])
})

test('200: removes what the buyer wrote into closed orders, and leaves what the seller wrote', async () => {
  const { sub, token } = await makeUser(market)
  const { id, sellerKey } = await orderOf(token)
  const messages = `/api/orders/${id}/messages`
  await write(id, 'client', 'A Person', 'Call me at home')
  await write(id, 'agent', 'The seller', 'I will')
  await cancel(id, token)
  expect((await remove(token)).status).toBe(200)
  const { body } = await market.client().get(`/api/orders/${id}`, { bearer: sellerKey })
  expect(body.data.order).toMatchObject({
    status: 'cancelled',
    brief: '',
    reference_urls: [],
    price_usd: '12.50',
  })
  const thread = (await market.client().get(messages, { bearer: sellerKey })).body.data
  expect(thread).toMatchObject([
    { sender_type: 'agent', content: 'I will' },
    { sender_type: 'client', sender_name: 'Deleted user', content: '[deleted]' },
  ])
  expect(JSON.stringify(thread)).not.toContain('A Person')
  const notified = await market.db
    .selectFrom('notifications')
    .select('id')
    .where('recipient', '=', `user:${sub}`)
    .execute()
  expect(notified).toEqual([])
})

test('200: removes the events of the user and of the user’s agents as buyers; numbers continue after a new sign-in', async () => {
  const user = await makeUser(market)
  const agent = await agentOf(user.token)
  const other = await makeUser(market)
  for (const bearer of [user.token, agent.apiKey, other.token])
    expect((await cancel((await orderOf(bearer)).id, bearer)).status).toBe(200)
  const eventsOf = async (bearer: string) =>
    (await market.client().get('/api/events?role=buyer', { bearer })).body.data
  expect(await eventsOf(user.token)).toMatchObject([{ cursor: '1', event: 'order.cancelled' }])
  expect(await eventsOf(agent.apiKey)).toHaveLength(1)
  expect((await remove(user.token)).status).toBe(200)
  const left = await market.db.selectFrom('buyer_events').select('buyer').execute()
  expect(left.filter(({ buyer }) => buyer.endsWith(user.sub) || buyer.endsWith(agent.id))).toEqual([])
  expect(await eventsOf(other.token)).toHaveLength(1)
  await market.client().post('/api/auth/user', undefined, { bearer: user.token })
  await cancel((await orderOf(user.token)).id, user.token)
  expect(await eventsOf(user.token)).toMatchObject([{ cursor: '2' }])
})

test('200: stops the agents of the user; after a new sign-in they are recovered with new keys', async () => {
  const user = await makeUser(market)
  const agent = await makeAgent(market)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: user.token })
  const service = await makeService(market, agent)
  expect((await remove(user.token)).status).toBe(200)
  rejected(await market.client().get('/api/agents/me', { bearer: agent.apiKey }), 401, 'bad_api_key')
  rejected(await market.client().get(`/api/services/${service.id}`), 404, 'service_not_found')
  const back = await market.client().post('/api/auth/user', undefined, { bearer: user.token })
  expect(back.body.data).toMatchObject({ is_new: true, user: { bio: null } })
  const { body } = await market.client().post('/api/agents/recover', {}, { bearer: user.token })
  expect(body.data.agents).toMatchObject([{ agent_id: agent.id }])
  expect(body.data.agents[0].api_key).not.toBe(agent.apiKey)
})

test('401: a login of more than 15 minutes ago', async () => {
  const { sub } = await makeUser(market)
  const now = Math.floor(Date.now() / 1_000)
  const { issuer, audience } = market.idp
  const claims = { iss: issuer, aud: audience, sub, iat: now, exp: now + 600, auth_time: now - 960 }
  rejected(await remove(market.idp.forge(claims)), 401, 'login_too_old')
  expect((await userRow(sub)).deleted_at).toBeNull()
})

test('403: an admin key and an agent', async () => {
  const { apiKey } = await makeAgent(market)
  for (const bearer of [ADMIN_KEY, apiKey]) rejected(await remove(bearer), 403, 'wrong_credential')
})

test('404: a user without an account, and one who deleted it', async () => {
  rejected(await remove(await market.idp.token({ sub: 'nobody-yet' })), 404, 'no_account')
  const { token } = await makeUser(market)
  expect((await remove(token)).status).toBe(200)
  rejected(await remove(token), 404, 'no_account')
})

test('409: an open order of the buyer, and one of the user’s agent; nothing is removed', async () => {
  const buyer = await makeUser(market)
  const { id } = await orderOf(buyer.token)
  rejected(await remove(buyer.token), 409, 'account_has_open_orders')
  expect((await userRow(buyer.sub)).google_email).not.toBeNull()
  const seller = await market.db
    .selectFrom('orders')
    .innerJoin('agents', 'agents.id', 'orders.agent_id')
    .select('agents.owner_user_id')
    .where('orders.id', '=', id)
    .executeTakeFirstOrThrow()
  const token = await market.idp.token({ sub: seller.owner_user_id ?? '' })
  rejected(await remove(token), 409, 'account_has_open_orders')
})

/** An agent of the user. */
async function agentOf(token: string) {
  const agent = await makeAgent(market)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: token })
  return agent
}

test('409: an open order that the user’s agent bought; once it is closed, its brief is removed', async () => {
  const user = await makeUser(market)
  const { apiKey } = await agentOf(user.token)
  const { id, sellerKey } = await orderOf(apiKey)
  rejected(await remove(user.token), 409, 'account_has_open_orders')
  await cancel(id, apiKey)
  expect((await remove(user.token)).status).toBe(200)
  const { body } = await market.client().get(`/api/orders/${id}`, { bearer: sellerKey })
  expect(body.data.order).toMatchObject({ status: 'cancelled', brief: '', reference_urls: [] })
})

describe('wallets of agents', () => {
  let solana: WalletMarket
  beforeAll(async () => {
    solana = await startWalletMarket()
  })
  afterAll(() => solana.stop())

  const userWithAgent = async () => {
    const user = await makeUser(solana)
    const agent = await makeAgent(solana)
    await solana.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: user.token })
    return { ...user, agent }
  }
  const removeIn = (bearer: string, api: Pick<Market, 'client'> = solana) =>
    api.client().send('DELETE', PATH, { bearer })

  test('409: SOL, USDC and a token in the wallet of an agent, with what to do; nothing is removed', async () => {
    const { token, sub, agent } = await userWithAgent()
    await solana.fund(agent.id, { sol: 1_781_760n, micros: 50_000n })
    const mint = await fundToken(solana, agent.id, 1n)
    const reply = await removeIn(token)
    rejected(reply, 409, 'account_has_money_in_wallets', {
      wallets: [
        { agent_id: agent.id, asset: 'SOL', amount: 0.00178176 },
        { agent_id: agent.id, asset: 'USDC', amount: 0.05 },
        { agent_id: agent.id, asset: mint, amount: '0.000000001' },
      ],
    })
    expect(reply.body.error).toContain(
      `hold 0.00178176 SOL (${agent.id}), 0.05 USDC (${agent.id}), 0.000000001 of the token ${mint} (${agent.id}). Set a withdraw address`,
    )
    const { deleted_at } = await solana.db
      .selectFrom('users')
      .select('deleted_at')
      .where('idp_user_id', '=', sub)
      .executeTakeFirstOrThrow()
    expect(deleted_at).toBeNull()
  })

  test('200: dust: less SOL than a new account needs beside its fee, and less USDC than a payout sends', async () => {
    const { token, agent } = await userWithAgent()
    await solana.fund(agent.id, { sol: 1_781_759n, micros: 49_999n })
    expect((await removeIn(token)).status).toBe(200)
  })

  test('409: an operation of a wallet that has not ended', async () => {
    const { token, agent } = await userWithAgent()
    await solana.whilePaused(async () => {
      await insertOperation(solana, agent.id, { kind: 'withdraw' })
      rejected(await removeIn(token), 409, 'account_has_money_in_wallets')
    })
  })

  test('503: while no Solana node responds, when the user has an agent', async () => {
    const { token } = await userWithAgent()
    const away = await solana.startApi({ SOLANA_RPC_URLS: 'http://127.0.0.1:9' })
    rejected(await removeIn(token, away), 503, 'wallets_unavailable')
    const { token: other } = await makeUser(solana)
    expect((await removeIn(other, away)).status).toBe(200)
  })
})

/** The listing of a closed order of this caller, to order again. */
async function closedOrderOf(bearer: string) {
  const { id } = await orderOf(bearer)
  await cancel(id, bearer)
  return market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

const orderAgain = (bearer: string, service_id: string) =>
  market.client().post('/api/orders', { service_id, brief: BRIEF }, { bearer })

/** Resolves when a statement of the API waits for a lock of this transaction. */
const blockedBy = (tx: Tx) =>
  until('a statement waits for a lock of the transaction', async () => {
    const { rows } = await sql<{ waiting: boolean }>`
      select exists (select from pg_locks
        where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))) as waiting`.execute(tx)
    return rows[0]?.waiting === true
  })

test('409: an order that another request is placing; the deletion waits for it', async () => {
  const { sub, token } = await makeUser(market)
  const closed = await closedOrderOf(token)
  const removal = await transact(market.db, async (tx) => {
    await lockAccountOpen(tx, sub)
    const open = { status: 'quoted', closed_at: null, outcome: null, agent_part_micros: null }
    const row = { ...closed, ...open, requirement_answers: '{}', id: ids.next('ord') }
    await tx.insertInto('orders').values(row).execute()
    const waiting = remove(token)
    await blockedBy(tx)
    return { waiting }
  })
  rejected(await removal.waiting, 409, 'account_has_open_orders')
})

test('404 and 401: an order of the user or of their agent that waited for the deletion', async () => {
  const { sub, token } = await makeUser(market)
  const agent = await agentOf(token)
  const { listing_id } = await closedOrderOf(token)
  for (const [bearer, api_key_hint, status, code] of [
    [agent.apiKey, 'zzz1', 401, 'bad_api_key'],
    [token, 'zzz2', 404, 'no_account'],
  ] as const) {
    const ordered = await transact(market.db, async (tx) => {
      await eraseAccount(tx, sub, new Date())
      await lockAgentsOfUser(tx, sub)
      await tx.updateTable('agents').set({ api_key_hint }).where('id', '=', agent.id).execute()
      const waiting = orderAgain(bearer, listing_id ?? '')
      await blockedBy(tx)
      return { waiting }
    })
    rejected(await ordered.waiting, status, code)
    await market.client().post('/api/auth/user', undefined, { bearer: token })
  }
})

test('404: an order of a user who deleted the account', async () => {
  const { token } = await makeUser(market)
  const { listing_id } = await closedOrderOf(token)
  expect((await remove(token)).status).toBe(200)
  rejected(await orderAgain(token, listing_id ?? ''), 404, 'no_account')
})

test('409: shares of the user or an agent, and a deposit on its way, until they are gone', async () => {
  await startPools(market)
  const user = await makeUser(market)
  const agent = await makeAgent(market)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: user.token })
  const holders = [`user:${user.sub}`, `agent:${agent.id}`]
  for (const holder of holders) {
    await giveShares(market, holder)
    rejected(await remove(user.token), 409, 'account_has_money_in_earn')
    await market.db.updateTable('earn_positions').set({ shares: '0' }).where('holder', '=', holder).execute()
  }
  await insertDeposit(market, `user:${user.sub}`, { status: 'waiting' })
  rejected(await remove(user.token), 409, 'account_has_money_in_earn')
  await market.db.deleteFrom('earn_deposits').execute()
  expect((await remove(user.token)).status).toBe(200)
})

test('200: a payout to an agent that is held below the minimum stays owed to its address', async () => {
  const user = await makeUser(market)
  const agent = await makeAgent(market)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: user.token })
  const { id, payee } = await makePayout(market.db, { amount: 49_999n })
  const held = { agent_id: agent.id, state: 'held', hold_code: 'below_minimum', reason: 'small' }
  await market.db.updateTable('payouts').set(held).where('id', '=', id).execute()
  expect((await remove(user.token)).status).toBe(200)
  const row = await market.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(row).toMatchObject({ state: 'held', payee, amount_micros: 49_999n })
})

test('409: a payout to an agent of the user that is not final', async () => {
  const user = await makeUser(market)
  const agent = await makeAgent(market)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: user.token })
  const failed = await makeFailed(market.db)
  const to = (agent_id: string | null) =>
    market.db.updateTable('payouts').set({ agent_id }).where('id', '=', failed.id).execute()
  await to(agent.id)
  rejected(await remove(user.token), 409, 'account_has_open_payouts')
  await to(null)
  expect((await remove(user.token)).status).toBe(200)
})
