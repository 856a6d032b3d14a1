import { isWrite, routesOf } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { emitMessages } from '../support/emit-messages.ts'
import { openStream } from '../support/event-stream.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'
import { APP_URL } from '../support/settings.ts'

/** A session of a wallet reads for 12 hours, and changes nothing. */

let market: Market
let wallet: ReturnType<typeof evmSigner>
let session: { readonly cookie: string; readonly 'sec-fetch-site': string }
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())
beforeEach(async () => {
  wallet = evmSigner()
  session = await start()
})

async function start(by = wallet) {
  const headers = asHeaders(await signed(by, 'sessions.start'))
  const reply = await market.client().post('/api/auth/session', {}, { headers })
  return { cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' }
}
const get = (path: string, headers: Record<string, string> = session) =>
  market.client().get(path, { headers })
const age = (change: Record<string, Date>) =>
  market.db
    .updateTable('sessions')
    .set(change)
    .where('wallet_key', '=', wallet.address.toLowerCase())
    .execute()

const writes = operationList.filter(isWrite)
const forWallets = writes.filter(({ callers }) => callers.includes('wallet'))
const ID = '1700000000000_00000000000000000'
const pathOf = (path: string) => path.replace(/\{(\w+)\}/g, (_, key: string) => `${key.slice(0, 3)}_${ID}`)

test('there are writes that wallets sign', () => {
  expect(forWallets.length).toBeGreaterThan(20)
})

test.each(
  writes.flatMap((operation) => routesOf(operation).map((route) => ({ id: route.id, route, operation }))),
)('$route.method $route.path ($id): a session is no credential of a write (asvs V7.3)', async ({ route }) => {
  const isPublic = route.callers.includes('anonymous')
  const ask = { headers: { ...session, origin: APP_URL }, body: {} }
  const { method } = route
  const sent = method === 'GET' ? { headers: ask.headers } : ask
  const reply = await market.client().send(method, pathOf(route.path), sent)
  if (isPublic && !route.callers.includes('wallet')) {
    const { cookie: _, ...without } = ask.headers
    const anonymous = await market.client().send(method, pathOf(route.path), { ...sent, headers: without })
    return expect(reply.status).toBe(anonymous.status)
  }
  // A purchase needs no credential but its payment.
  if (route.payment?.when === 'always') return expect(reply.status).not.toBe(200)
  expect([reply.status, reply.body.success]).toEqual([401, false])
  if (route.callers.includes('wallet')) {
    expect(reply.body.code).toBe('signature_missing')
    expect(reply.body.error).toContain('only reads. This request needs a signature')
  } else expect(reply.body.code).toBe('credentials_missing')
})

test('it reads what belongs to the wallet, until 12 hours have passed (asvs V7.1)', async () => {
  const agent = await makeOwnedAgent(market, {}, wallet)
  const owned = await get('/api/me/agents')
  expect(owned.body.data.map(({ id }: { id: string }) => id)).toEqual([agent.id])
  for (const path of ['/api/orders', '/api/notifications', `/api/agents/${agent.id}/orders`, '/api/me'])
    expect((await get(path)).status).toBe(200)
  rejected(await get('/api/profile'), 403, 'wrong_credential')
  await age({ created_at: new Date(Date.now() - 43_200_000), expires_at: new Date(Date.now() - 1) })
  rejected(await get('/api/orders'), 401, 'bad_token')
})

test('the database ends it after 12 hours, whatever the API writes', async () => {
  await expect(age({ expires_at: new Date(Date.now() + 50_000_000) })).rejects.toThrow(
    'sessions_of_wallet_end',
  )
})

test('another site, a sibling origin and a request without headers of a browser do not use it', async () => {
  const { cookie } = session
  for (const from of [{}, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }])
    rejected(await get('/api/orders', { cookie, ...from }), 403, 'cross_site')
})

test('a signature beside it counts instead, also of another wallet', async () => {
  const other = evmSigner()
  const headers = { ...session, ...asHeaders(await signed(other, 'session')) }
  expect((await get('/api/me', headers)).body.data.wallet.address).toBe(other.address)
})

test('starting a session ends the one that the browser had', async () => {
  const headers = { ...session, origin: APP_URL, ...asHeaders(await signed(evmSigner(), 'sessions.start')) }
  expect((await market.client().post('/api/auth/session', {}, { headers })).status).toBe(201)
  rejected(await get('/api/orders'), 401, 'bad_token')
})

test('a response that says that the session has ended removes its cookie; one that rejects another credential does not', async () => {
  await age({ created_at: new Date(Date.now() - 43_200_000), expires_at: new Date(Date.now() - 1) })
  const removed = /^idp-token=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/
  const reply = await get('/api/orders')
  rejected(reply, 401, 'bad_token')
  expect(reply.headers.get('set-cookie')).toMatch(removed)
  const stream = await openStream(market.url, { headers: session, query: '?role=buyer' })
  await stream.ended
  expect(stream.status).toBe(401)
  expect(String(stream.headers['set-cookie'])).toMatch(removed)
  const wrong = await market.client().get('/api/orders', { bearer: 'not.a.token' })
  rejected(wrong, 401, 'bad_token')
  expect(wrong.headers.get('set-cookie')).toBeNull()
})

describe('event stream', () => {
  test('is opened by the session, and ends when the session does (asvs V7.3)', async () => {
    const agent = await makeOwnedAgent(market, {}, wallet)
    const stream = await openStream(market.url, { headers: session, query: `?agent_id=${agent.id}` })
    expect(stream.status).toBe(200)
    const { body } = await market.client().send('DELETE', '/api/auth/session', { headers: session })
    expect(body.data).toEqual({ ended: 1 })
    // It gets nothing more: an event makes the server look at once.
    await emitMessages(market.db, agent.id, 'after the session')
    await stream.ended
    expect(stream.frames).toEqual([])
  })

  test('403: of an agent of another owner', async () => {
    const other = await makeOwnedAgent(market)
    rejected(await get(`/api/events?agent_id=${other.id}`), 403, 'not_your_agent')
    const stream = await openStream(market.url, { headers: session, query: `?agent_id=${other.id}` })
    expect(stream.status).toBe(403)
    await stream.ended
  })
})
