import { LIMITS } from '@market/contract/limits'
import { SHARES } from '@market/handlers/networks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { FetchBrowser } from './fetch-browser.ts'
import {
  allow,
  callTool,
  type OAuthWorld,
  openConsent,
  registerProgram,
  startOAuthWorld,
} from './oauth-world.ts'

/** What a user reads before allowing a program, and what the program then gets. */

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())

const WARNING = 'Any program on this device could use this name'

async function consentFor(redirect_uri: string, client_name = 'Claude') {
  const { sub, token } = await makeUser(world.market)
  const program = await registerProgram(world.url, { client_name, redirect_uris: [redirect_uri] })
  const browser = new FetchBrowser()
  const consent = await openConsent(browser, program.authorizeUrl({ redirect_uri }), sub)
  return { token, browser, consent }
}

test.each([
  'com.evil.app://claude.ai/api/mcp/auth_callback',
  'claude.ai://claude.ai/callback',
  'http://127.0.0.1:9999/claude.ai',
  'http://[::1]:9999/claude.ai',
  'https://localhost/claude.ai',
])(
  'consent: the receiver %s is a program on this device, on every page and notice (asvs V10.4)',
  async (redirect) => {
    const { token, browser, consent } = await consentFor(redirect)
    expect(consent.text).toContain('The access goes to <strong>a program on this device</strong>')
    expect(consent.text).toContain(WARNING)
    expect(consent.text).not.toContain('claude.ai')
    const received = await browser.submit(consent, { decision: 'allow', agent: '' }, redirect)
    expect(received.url.searchParams.get('code')).toBeTruthy()
    const inbox = await world.market.client().get('/api/notifications', { bearer: token })
    expect(inbox.body.data[0].body).toContain('The access went to a program on this device.')
    const connections = await browser.open(new URL(`${world.url}/oauth/connections`))
    expect(connections.text).toContain('<dd>a program on this device</dd>')
    expect(connections.text).not.toContain('claude.ai')
  },
)

test('consent: the host of an https redirect is shown, without the warning (asvs V10.4)', async () => {
  const { consent } = await consentFor('https://claude.ai/api/mcp/auth_callback')
  expect(consent.text).toContain('The access goes to <strong>claude.ai</strong>')
  expect(consent.text).not.toContain(WARNING)
})

test.each([
  'http://evil.example/cb',
  'http://localhost.evil.example/cb',
  'http://127.0.0.1.evil.example/cb',
  'http://127.0.0.1@evil.example/cb',
  'http://10.0.0.1/cb',
  'HTTP://evil.example/cb',
])('register: 400 for the redirect %s, whose code others could read (asvs V10.3)', async (uri) => {
  for (const redirect_uris of [[uri], ['https://fine.example/cb', uri]]) {
    const { status, body } = await registerProgram(world.url, { redirect_uris, application_type: 'web' })
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri'])
  }
})

test.each([
  ['market:read', 'it sees my purchases'],
  ['market:write', 'it acts in my purchases, and sells nothing'],
  ['market:funds', 'it buys, and sells nothing'],
  ['market:keys', 'it acts in my purchases, and sells nothing'],
])('consent: for %s the page says: me: %s', async (scope, words) => {
  const { sub } = await makeUser(world.market)
  const program = await registerProgram(world.url)
  const { text } = await openConsent(new FetchBrowser(), program.authorizeUrl({ scope }), sub)
  expect(text).toContain(`me: ${words}<`)
  expect(text.includes('Pay for services')).toBe(scope === 'market:funds')
  expect(text.includes('receive their API keys')).toBe(scope === 'market:keys')
})

test.each([
  ['market:write', 'market:read market:write'],
  ['market:funds', 'market:read market:write market:funds'],
  ['market:keys', 'market:read market:write market:keys'],
  ['market:keys market:funds', 'market:read market:write market:funds market:keys'],
])('scope=%s is issued as %s, and works', async (scope, issued) => {
  const { sub } = await makeUser(world.market)
  const program = await registerProgram(world.url)
  const received = await allow(new FetchBrowser(), program.authorizeUrl({ scope }), { sub })
  const { body } = await program.redeem(received.get('code') ?? '')
  expect(body['scope']).toBe(issued)
  expect((await callTool(world.resource, body['access_token'], 'market_list_models')).status).toBe(200)
  const refreshed = await program.refresh(body['refresh_token'] ?? '', { scope: scope.split(' ')[0] ?? '' })
  const again = await callTool(world.resource, refreshed.body['access_token'], 'market_list_models')
  expect(again.status).toBe(200)
})

test('a refresh for less takes the rest away', async () => {
  const { sub } = await makeUser(world.market)
  const program = await registerProgram(world.url)
  const received = await allow(new FetchBrowser(), program.authorizeUrl({ scope: 'market:funds' }), { sub })
  const { body } = await program.redeem(received.get('code') ?? '')
  const { body: less } = await program.refresh(body['refresh_token'] ?? '', { scope: 'market:read' })
  const rejected = await callTool(world.resource, less['access_token'], 'market_cancel_order', {})
  expect([rejected.status, rejected.challenge]).toEqual([403, expect.stringContaining('market:write')])
})

test.each(['client_secret_basic', 'client_secret_post', 'none'])(
  'register: a program that asks for %s is public, and no secret is stored (asvs V10.1)',
  async (token_endpoint_auth_method) => {
    const { status, body } = await registerProgram(world.url, { token_endpoint_auth_method })
    expect([status, body.client_secret]).toEqual([201, undefined])
    expect(body).toMatchObject({ token_endpoint_auth_method: 'none' })
    const rows = await world.market.db.selectFrom('oauth_records').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain('client_secret"')
  },
)

test('register: 400 above 2 KB of metadata, and nothing is stored', async () => {
  const count = async () => (await world.market.db.selectFrom('oauth_records').select('id').execute()).length
  const before = await count()
  const large = await registerProgram(world.url, { client_name: 'x'.repeat(2_048) })
  expect([large.status, large.body.error]).toEqual([400, 'invalid_client_metadata'])
  expect(JSON.stringify(large.body)).toMatch(/has \d+ bytes, at most 2048/)
  expect(await count()).toBe(before)
  expect((await registerProgram(world.url, { client_name: 'x'.repeat(1_900) })).status).toBe(201)
})

test('authorize: 400 above 2 KB of state or 6 KB in all, and nothing is stored', async () => {
  const program = await registerProgram(world.url)
  const interactions = async () =>
    (
      await world.market.db
        .selectFrom('oauth_records')
        .select('id')
        .where('model', '=', 'Interaction')
        .execute()
    ).length
  const before = await interactions()
  for (const parameters of [
    { state: 's'.repeat(2_049) },
    { state: 'é'.repeat(1_025) },
    { nonce: 'n'.repeat(6_144) },
    { ui_locales: 'de '.repeat(3_000) },
  ]) {
    const response = await fetch(program.authorizeUrl(parameters), { redirect: 'manual' })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('are allowed')])
  }
  const posted = await fetch(`${world.url}/oauth/authorize`, {
    method: 'POST',
    body: program.authorizeUrl({ state: 's'.repeat(9_000) }).searchParams,
  })
  expect(posted.status).toBe(404)
  expect(await interactions()).toBe(before)
  const fine = await fetch(program.authorizeUrl({ state: 's'.repeat(2_048) }), { redirect: 'manual' })
  expect(fine.status).toBe(303)
})

test('oauth.register: the /64 networks of one /56 share four times the limit of one', async () => {
  const register = async (n: number) => {
    const { status } = await fetch(`${world.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `2001:db8:77:${n.toString(16)}::1` },
      body: JSON.stringify({ redirect_uris: ['https://many.example/cb'] }),
    })
    return status
  }
  const statuses = []
  const shared = LIMITS['oauth.register'].max * SHARES.address[56]
  for (let n = 0; n <= shared; n++) statuses.push(await register(n % 0x100))
  expect(statuses.indexOf(429)).toBe(shared)
  expect(await register(0x100)).toBe(201)
})
