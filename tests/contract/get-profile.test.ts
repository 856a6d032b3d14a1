import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { userOf } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/profile'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.getProfile,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

test('200: returns the account with its wallets and no data of other users', async () => {
  const wallet = evmSigner().address
  const { sub, token } = await makeUser(market, { wallets: [wallet] })
  await makeUser(market)
  const { status, body } = await market.client().get(PATH, { bearer: token })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: { user: userOf(sub), wallets: [{ address: wallet, chain: 'base' }] },
  })
})

test('200: by our own page’s cookie', async () => {
  const { sub, token } = await makeUser(market)
  const headers = { cookie: `idp-token=${token}`, 'sec-fetch-site': 'same-origin' }
  const { body } = await market.client().get(PATH, { headers })
  expect(body.data).toEqual({ user: userOf(sub), wallets: [] })
})

test('400: an unknown query field', async () => {
  const { token } = await makeUser(market)
  invalid(await market.client().get(`${PATH}?user=somebody`, { bearer: token }), '')
})

test('403: an agent and a wallet', async () => {
  const { apiKey } = await makeAgent(market)
  rejected(await market.client().get(PATH, { bearer: apiKey }), 403, 'wrong_credential')
  const headers = asHeaders(await signed(evmSigner(), 'session', market.now()))
  rejected(await market.client().get(PATH, { headers }), 403, 'wrong_credential')
})

test('404: a user who never signed in, with the next step', async () => {
  const bearer = await market.idp.token({ sub: 'never-signed-in' })
  const reply = await market.client().get(PATH, { bearer })
  rejected(reply, 404, 'no_account')
  expect(reply.body.error).toContain('POST /api/auth/user')
})
