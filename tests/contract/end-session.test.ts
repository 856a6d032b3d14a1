import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeUser, type Signer, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'

const PATH = '/api/auth/session'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.endSession,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

async function startedBy(wallet: Signer) {
  const headers = asHeaders(await signed(wallet, 'sessions.start'))
  const reply = await market.client().post(PATH, {}, { headers })
  const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { cookie, 'sec-fetch-site': 'same-origin' }
}
const REMOVED = 'idp-token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure'
const end = (headers: Record<string, string>, query = '') =>
  market.client().send('DELETE', `${PATH}${query}`, { headers })
const read = (headers: Record<string, string>) => market.client().get('/api/orders', { headers })

test('200: ends the session of the cookie and no other, and removes the cookie', async () => {
  const wallet = evmSigner()
  const [one, other] = [await startedBy(wallet), await startedBy(wallet)]
  expect((await read(one)).status).toBe(200)
  const ended = await end(one)
  expect([ended.status, ended.body.data]).toEqual([200, { ended: 1 }])
  expect(ended.headers.get('set-cookie')).toBe(REMOVED)
  rejected(await read(one), 401, 'bad_token')
  expect((await read(other)).status).toBe(200)
})

test('200: everywhere ends all sessions of the wallet, also by a signature, and none of another wallet', async () => {
  const [wallet, another] = [evmSigner(), evmSigner()]
  const [one, two, kept] = [await startedBy(wallet), await startedBy(wallet), await startedBy(another)]
  const headers = asHeaders(await signed(wallet, 'session'))
  expect((await end(headers, '?everywhere=true')).body.data).toEqual({ ended: 2 })
  for (const session of [one, two]) rejected(await read(session), 401, 'bad_token')
  expect((await read(kept)).status).toBe(200)
})

test('200: no node is asked, so that the session of a smart wallet ends also while its chain cannot be reached', async () => {
  const wallet = evmSigner()
  const session = await startedBy(wallet)
  const longAgo = Date.now() - 600_000
  await market.db
    .updateTable('sessions')
    .set({
      wallet_proven_by: 'base-mainnet',
      checked_at: new Date(longAgo),
      signed_at_ms: BigInt(longAgo),
      signature: `0x${'11'.repeat(200)}`,
    })
    .where('wallet_key', '=', wallet.address.toLowerCase())
    .execute()
  rejected(await read(session), 503, 'unavailable')
  expect((await end(session)).body.data).toEqual({ ended: 1 })
  rejected(await read(session), 401, 'bad_token')
})

test('401: a session that has ended; the response removes its cookie', async () => {
  const session = await startedBy(evmSigner())
  expect((await end(session)).status).toBe(200)
  const again = await end(session)
  rejected(again, 401, 'bad_token')
  expect(again.headers.get('set-cookie')).toBe(REMOVED)
})

test('400: an unknown field', async () => {
  invalid(await end(await startedBy(evmSigner()), '?wallet_id=1'), '')
})

test('403: a page of another site, and an agent', async () => {
  const session = await startedBy(evmSigner())
  rejected(await end({ ...session, 'sec-fetch-site': 'cross-site' }), 403, 'cross_site')
  rejected(await end({ ...session, 'sec-fetch-site': 'same-site' }), 403, 'cross_site')
  expect((await read(session)).status).toBe(200)
  const { apiKey } = await makeAgent(market)
  rejected(await market.client().send('DELETE', PATH, { bearer: apiKey }), 403, 'wrong_credential')
})
