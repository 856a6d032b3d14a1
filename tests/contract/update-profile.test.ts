import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { userOf } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/profile'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const put = (bearer: string, body: unknown) => market.client().put(PATH, body, { bearer })

const subject: Subject = {
  market: () => market,
  operation: operations.updateProfile,
  good: async () => ({
    path: PATH,
    body: { bio: 'Builds things.' },
    ask: { bearer: (await makeUser(market)).token },
  }),
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, body: { bio: 'Builds other things.' } }) })
rejectsWithoutProvider(subject, PATH, {})

test('200: changes only the given field; null clears it', async () => {
  const wallet = evmSigner().address
  const { sub, token } = await makeUser(market, { wallets: [wallet] })
  const wallets = [{ address: wallet, chain: 'base' }]
  let fields = {}
  for (const change of [
    { display_name: 'Zoë 🚀' },
    { bio: 'First line.\nSecond line.' },
    { avatar_url: 'https://other.example/me.png' },
    {},
    { display_name: null, bio: null, avatar_url: null },
  ]) {
    fields = { ...fields, ...change }
    const { status, body } = await put(token, change)
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, data: { user: userOf(sub, fields), wallets } })
    const read = await market.client().get(PATH, { bearer: token })
    expect(read.body).toEqual(body)
  }
})

test('200: normalizes text to NFC, and counts limits in characters', async () => {
  const { token } = await makeUser(market)
  const { body } = await put(token, { display_name: 'Zoe\u0308', bio: '🚀'.repeat(280) })
  expect(body.data.user).toMatchObject({ display_name: 'Zo\u00eb', bio: '🚀'.repeat(280) })
})

test('200: updated_at changes, created_at stays', async () => {
  const { token } = await makeUser(market)
  const before = (await market.client().get(PATH, { bearer: token })).body.data.user
  await market.advance(5_000)
  const after = (await put(token, { bio: 'Later' })).body.data.user
  expect(after.created_at).toBe(before.created_at)
  expect(after.updated_at > before.updated_at).toBe(true)
})

test('400: reports each field that is out of bounds', async () => {
  const { token } = await makeUser(market)
  const all = { display_name: 'x'.repeat(51), bio: 'x'.repeat(281), avatar_url: 'http://other.example/' }
  invalid(await put(token, all), 'display_name', 'bio', 'avatar_url')
  for (const display_name of ['', ' x', 'two\nlines', 'right\u202eleft', 7]) {
    expect((await put(token, { display_name })).body.details?.[0]?.path).toBe('display_name')
  }
  invalid(await put(token, { username: 'root' }), '')
  invalid(await put(token, { idp_user_id: 'somebody' }), '')
})

test('403: an agent and an admin key', async () => {
  const { apiKey } = await makeAgent(market)
  rejected(await put(apiKey, {}), 403, 'wrong_credential')
  rejected(await put(ADMIN_KEY, {}), 403, 'wrong_credential')
})

test('404: a user who never signed in', async () => {
  const bearer = await market.idp.token({ sub: 'never-signed-in' })
  rejected(await put(bearer, { bio: 'Hello' }), 404, 'no_account')
})
