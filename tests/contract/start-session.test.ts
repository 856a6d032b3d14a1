import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsUnreadableBodies } from '../support/rejects-bad-bodies.ts'
import { APP_URL } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/auth/session'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const start = (ask: RequestOptions) => market.client().post(PATH, {}, ask)
const PURPOSE = 'sessions.start'
const sign = async () => asHeaders(await signed(evmSigner(), PURPOSE))

const subject = {
  market: () => market,
  operation: operations.startSession,
  good: async () => ({ path: PATH, body: {}, ask: { headers: await sign() } }),
}
commonErrors(subject)
rejectsUnreadableBodies(subject)

test('201: an HttpOnly cookie of 12 hours, stored only as a hash', async () => {
  const wallet = evmSigner()
  const headers = asHeaders(await signed(wallet, PURPOSE))
  const { status, body, headers: sent } = await start({ headers: { ...headers, origin: APP_URL } })
  expect(status).toBe(201)
  expect(body).toEqual({
    success: true,
    data: { wallet: wallet.address, wallet_chain: 'base', expires_at: expect.stringMatching(INSTANT) },
  })
  const cookie = sent.get('set-cookie') ?? ''
  expect(cookie).toMatch(
    /^idp-token=session_wallet_[\w-]{43}; Path=\/; Max-Age=4(3199|3200); HttpOnly; SameSite=Lax; Secure$/,
  )
  const token = /session_wallet_[\w-]{43}/.exec(cookie)?.[0] ?? ''
  const rows = await market.db.selectFrom('sessions').selectAll().execute()
  expect(rows.length).toBeGreaterThan(0)
  expect(
    JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toContain(token)
  expect(market.logText()).not.toContain(token)
})

test('201: the text to sign says what the session allows, and until when', async () => {
  const { address } = evmSigner()
  const { body } = await market.client().get(`/api/auth/message?wallet=${address}&purpose=${PURPOSE}`)
  expect(body.data.message.split('\n')[3]).toBe(
    'Sign in to Agent Market for 12 hours. The session only reads: nothing can be spent or changed with it. ' +
      'Signing sends no transaction and costs nothing.',
  )
})

test('400: an unknown field', async () => {
  invalid(await market.client().post(PATH, { hours: 24 }, { headers: await sign() }), '')
})

test('401: a session does not start another one, and a signature of another purpose starts none', async () => {
  const started = await start({ headers: await sign() })
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  rejected(await start({ headers: { cookie, 'sec-fetch-site': 'same-origin' } }), 401, 'signature_missing')
  for (const purpose of ['session', 'agents.recover']) {
    const other = asHeaders(await signed(await solanaSigner(), purpose))
    rejected(await start({ headers: other }), 401, 'bad_signature', { expected_purpose: PURPOSE })
  }
})

test('401: a signature starts one session, whoever sends it again, and the session goes on', async () => {
  const headers = await sign()
  const replies = await Promise.all(Array.from({ length: 5 }, () => start({ headers })))
  expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 401, 401, 401, 401])
  for (const reply of replies.filter(({ status }) => status === 401)) {
    rejected(reply, 401, 'signature_used')
    expect(reply.headers.get('set-cookie')).toBeNull()
  }
  const cookie =
    replies
      .find(({ status }) => status === 201)
      ?.headers.get('set-cookie')
      ?.split(';')[0] ?? ''
  const session = { cookie, 'sec-fetch-site': 'same-origin' }
  rejected(await start({ headers: { ...session, ...headers } }), 401, 'signature_used')
  expect((await market.client().get('/api/orders', { headers: session })).status).toBe(200)
})

test('403: a page of another site, also a sibling, and a user', async () => {
  const pages = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const from of pages) {
    const reply = await start({ headers: { ...(await sign()), ...from } })
    rejected(reply, 403, 'cross_site')
    expect(reply.headers.get('set-cookie')).toBeNull()
  }
  rejected(await start({ bearer: (await makeUser(market)).token }), 403, 'wrong_credential')
})

test('503: a signature of a contract while its chain cannot be asked starts no session', async () => {
  const proof = { ...(await signed(evmSigner(), PURPOSE)), wallet_sig: `0x${'11'.repeat(200)}` }
  const reply = await start({ headers: asHeaders(proof) })
  rejected(reply, 503, 'unavailable')
})
