import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { asHeaders, makeAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeNotification } from '../support/notifications.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/notifications'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listNotifications,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (bearer: string, query = '') => market.client().get(`${PATH}${query}`, { bearer })
const titlesOf = (data: { title: string }[]) => data.map(({ title }) => title)

const wordOf = (title: string) => ({
  id: expect.stringMatching(/^ntf_\d{13}_[0-9a-z]{17}$/),
  kind: 'webhook.dropped',
  title,
  body: `About ${title}`,
  data: { about: title },
  read: false,
  created_at: expect.stringMatching(INSTANT),
})

test('200: an empty list for a user without notifications', async () => {
  const { token } = await makeUser(market)
  const { status, body } = await get(token)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: [], next_cursor: null, unread_count: 0 })
})

test('200: the notifications of the user and of linked wallets only, newest first', async () => {
  const [evm, solana, other] = [evmSigner(), await solanaSigner(), evmSigner()]
  const { sub, token } = await makeUser(market, { wallets: [evm.address, solana.address] })
  const otherUser = await makeUser(market, { wallets: [other.address] })
  await makeNotification(market, `user:${sub}`, 'first')
  await makeNotification(market, `wallet:${evm.address.toLowerCase()}`, 'second')
  await makeNotification(market, `wallet:${solana.address}`, 'third')
  await makeNotification(market, `user:${otherUser.sub}`, 'not theirs')
  await makeNotification(market, `wallet:${other.address.toLowerCase()}`, 'nor this')
  const { body } = await get(token)
  expect(body).toEqual({
    success: true,
    data: [wordOf('third'), wordOf('second'), wordOf('first')],
    next_cursor: null,
    unread_count: 3,
  })
})

test('200: the notifications of an unlinked wallet with a session signature', async () => {
  const signers = [evmSigner(), await solanaSigner()] as const
  await makeNotification(market, `wallet:${signers[0].address.toLowerCase()}`, 'for the one')
  await makeNotification(market, `wallet:${signers[1].address}`, 'for the other')
  for (const [signer, title] of [
    [signers[0], 'for the one'],
    [signers[1], 'for the other'],
  ] as const) {
    const headers = asHeaders(await signed(signer, 'session', market.now()))
    for (const _again of [1, 2]) {
      const { status, body } = await market.client().get(PATH, { headers })
      expect(status).toBe(200)
      expect(body).toMatchObject({ data: [wordOf(title)], unread_count: 1 })
    }
  }
})

test('200: no notifications of a wallet that was unlinked', async () => {
  const wallet = evmSigner()
  const { sub, token } = await makeUser(market, { wallets: [wallet.address] })
  await makeNotification(market, `wallet:${wallet.address.toLowerCase()}`, 'its own')
  expect((await get(token)).body['unread_count']).toBe(1)
  market.idp.unlink(sub, 'wallets')
  await market.client().post('/api/auth/user', undefined, { bearer: token })
  expect((await get(token)).body).toMatchObject({ data: [], unread_count: 0 })
})

test('200: pages contain every item once, and the count covers all pages', async () => {
  const { sub, token } = await makeUser(market)
  const titles = Array.from({ length: 7 }, (_, n) => `word ${n}`)
  for (const title of titles) await makeNotification(market, `user:${sub}`, title)
  const read: string[] = []
  let query = '?limit=3'
  for (let page = 0; page < 3; page++) {
    const { body } = await get(token, query)
    const { data, next_cursor } = body
    expect(body['unread_count']).toBe(7)
    expect(next_cursor === null).toBe(page === 2)
    read.push(...titlesOf(data))
    query = `?limit=3&cursor=${next_cursor}`
  }
  expect(read).toEqual(titles.toReversed())
})

test('400: an invalid limit or cursor, and an unknown field', async () => {
  const { token } = await makeUser(market)
  for (const limit of ['0', '-1', 'all']) invalid(await get(token, `?limit=${limit}`), 'limit')
  for (const cursor of [
    'x',
    ...['ntf_1', `ntf_1_${'A'.repeat(17)}`, `ntf_1_${'a'.repeat(17)}'`].map((id) =>
      forgeCursor(['notifications', 1, id]),
    ),
  ]) {
    invalid(await get(token, `?cursor=${cursor}`), 'cursor')
  }
  invalid(await get(token, '?recipient=user:somebody'), '')
})

test('401: a signature for another purpose or by another wallet', async () => {
  const [signer, other] = [await solanaSigner(), await solanaSigner()]
  const elsewhere = asHeaders(await signed(signer, 'agents.register:x', market.now()))
  rejected(await market.client().get(PATH, { headers: elsewhere }), 401, 'bad_signature')
  const stolen = asHeaders({ ...(await signed(other, 'session', market.now())), wallet: signer.address })
  rejected(await market.client().get(PATH, { headers: stolen }), 401, 'bad_signature')
})

test('403: an agent and an admin key', async () => {
  const { apiKey } = await makeAgent(market)
  rejected(await get(apiKey), 403, 'wrong_credential')
  rejected(await get(ADMIN_KEY), 403, 'wrong_credential')
})

test('404: a user who never signed in', async () => {
  rejected(await get(await market.idp.token({ sub: 'never-signed-in' })), 404, 'no_account')
})
