import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeNotification } from '../support/notifications.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/notifications'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.markNotifications,
  good: async () => ({ path: PATH, body: {}, ask: { bearer: (await makeUser(market)).token } }),
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, body: { ids: ['ntf_other'] } }) })
rejectsWithoutProvider(subject, PATH, {})

const mark = (bearer: string, body: unknown = {}) => market.client().patch(PATH, body, { bearer })

interface Word {
  readonly id: string
  readonly title: string
  readonly read: boolean
}

async function wordsOf(bearer: string): Promise<{ words: Word[]; unread: number }> {
  const { data, unread_count } = (await market.client().get(PATH, { bearer })).body
  return { words: data, unread: unread_count as number }
}

async function personWith(...titles: string[]) {
  const person = await makeUser(market)
  for (const title of titles) await makeNotification(market, `user:${person.sub}`, title)
  return person
}

test('200: marks all notifications once when no ids are given', async () => {
  const { sub, token } = await personWith('a', 'b', 'c')
  const { status, body } = await mark(token)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: { marked: 3 }, unread_count: 0 })
  expect((await mark(token)).body).toEqual({ success: true, data: { marked: 0 }, unread_count: 0 })
  expect((await wordsOf(token)).words.every(({ read }) => read)).toBe(true)
  await makeNotification(market, `user:${sub}`, 'd')
  const after = await wordsOf(token)
  expect(after.unread).toBe(1)
  expect(after.words.map(({ title, read }) => [title, read])).toEqual([
    ['d', false],
    ['c', true],
    ['b', true],
    ['a', true],
  ])
})

test('200: marks only the given ids and counts repeated ids once', async () => {
  const { token } = await personWith('a', 'b', 'c')
  const [newest] = (await wordsOf(token)).words
  const ids = [newest?.id, newest?.id, 'ntf_unknown']
  expect((await mark(token, { ids })).body).toEqual({ success: true, data: { marked: 1 }, unread_count: 2 })
  expect((await mark(token, { ids })).body).toEqual({ success: true, data: { marked: 0 }, unread_count: 2 })
  expect((await wordsOf(token)).words.map(({ read }) => read)).toEqual([true, false, false])
})

test('200: ignores notifications of other users like ids that do not exist', async () => {
  const { token } = await personWith('mine')
  const otherUser = await personWith('theirs')
  const theirs = (await wordsOf(otherUser.token)).words.map(({ id }) => id)
  const known = await mark(token, { ids: theirs })
  const unknown = await mark(token, { ids: ['ntf_unknown'] })
  expect(known.body).toEqual({ success: true, data: { marked: 0 }, unread_count: 1 })
  expect(unknown.body).toEqual(known.body)
  expect(await wordsOf(otherUser.token)).toMatchObject({ unread: 1, words: [{ read: false }] })
  await mark(token)
  expect(await wordsOf(otherUser.token)).toMatchObject({ unread: 1, words: [{ read: false }] })
})

test('200: a user also marks those of linked wallets; a wallet only its own', async () => {
  const wallet = evmSigner()
  const { sub, token } = await makeUser(market, { wallets: [wallet.address] })
  await makeNotification(market, `user:${sub}`, 'the person’s')
  await makeNotification(market, `wallet:${wallet.address.toLowerCase()}`, 'the wallet’s')
  const headers = await signOnce(market, wallet, 'notifications.read')
  const byWallet = await market.client().patch(PATH, {}, { headers })
  expect(byWallet.body).toEqual({ success: true, data: { marked: 1 }, unread_count: 0 })
  expect((await wordsOf(token)).unread).toBe(1)
  await makeNotification(market, `wallet:${wallet.address.toLowerCase()}`, 'another')
  expect((await mark(token)).body).toEqual({ success: true, data: { marked: 2 }, unread_count: 0 })
})

test('200: unread_count stays correct for concurrent requests while notifications arrive', async () => {
  const { sub, token } = await personWith('a', 'b', 'c', 'd')
  const arriving = Promise.all(
    Array.from({ length: 10 }, (_, n) => makeNotification(market, `user:${sub}`, `more ${n}`)),
  )
  const replies = await Promise.all(Array.from({ length: 10 }, () => mark(token)))
  await arriving
  const marked = replies.reduce((sum, { body }) => sum + body.data.marked, 0)
  const { words, unread } = await wordsOf(token)
  expect(words.filter(({ read }) => read)).toHaveLength(marked)
  expect(unread).toBe(14 - marked)
})

test('400: invalid ids, too many ids, or not a list', async () => {
  const { token } = await makeUser(market)
  for (const ids of [[], 'ntf_1', null, Array.from({ length: 101 }, (_, n) => `ntf_${n}`)]) {
    invalid(await mark(token, { ids }), 'ids')
  }
  invalid(await mark(token, { ids: ['ntf_1', ''] }), 'ids.1')
  invalid(await mark(token, { ids: [7] }), 'ids.0')
  invalid(await mark(token, { recipient: 'user:somebody' }), '')
})

test('403: an agent and an admin key', async () => {
  const { apiKey } = await makeAgent(market)
  rejected(await mark(apiKey), 403, 'wrong_credential')
  rejected(await mark(ADMIN_KEY), 403, 'wrong_credential')
})

test('404: a user who never signed in', async () => {
  rejected(await mark(await market.idp.token({ sub: 'never-signed-in' })), 404, 'no_account')
})
