import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { FetchBrowser } from './fetch-browser.ts'
import {
  allow,
  CALLBACK,
  callTool,
  type OAuthWorld,
  openConsent,
  registerProgram,
  startOAuthWorld,
} from './oauth-world.ts'

/** What a thief, a hostile program or a careless click could try with OAuth. */

let world: OAuthWorld
let otherWorld: OAuthWorld
beforeAll(async () => {
  ;[world, otherWorld] = await Promise.all([startOAuthWorld(), startOAuthWorld()])
})
afterAll(() => Promise.all([world.stop(), otherWorld.stop()]))

const newUser = () => makeUser(world.market)

async function connected(sub: string, agent = '') {
  const program = await registerProgram(world.url)
  const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub, agent })
  const code = received.get('code') ?? ''
  const { body } = await program.redeem(code)
  return { program, code, access: body['access_token'] ?? '', refresh: body['refresh_token'] ?? '' }
}

const statusOf = async (token: string, resource = world.resource) =>
  (await callTool(resource, token, 'market_list_models')).status

describe('tokens', () => {
  test('401: a token of another authorization server', async () => {
    const { sub } = await makeUser(otherWorld.market)
    const program = await registerProgram(otherWorld.url)
    const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub })
    const { body } = await program.redeem(received.get('code') ?? '')
    expect(await statusOf(body['access_token'] ?? '', otherWorld.resource)).toBe(200)
    expect(await statusOf(body['access_token'] ?? '')).toBe(401)
  })

  test('401: a token of the identity provider, a changed token, an ID token, and no token', async () => {
    const { sub, token } = await newUser()
    expect(await statusOf(token)).toBe(401)
    const { access, program } = await connected(sub)
    expect(await statusOf(access)).toBe(200)
    expect(await statusOf(`${access.slice(0, -6)}AAAAAA`)).toBe(401)
    const received = await allow(new FetchBrowser(), program.authorizeUrl({ scope: 'openid market:read' }), {
      sub,
    })
    const { body } = await program.redeem(received.get('code') ?? '')
    expect(await statusOf(body['id_token'] ?? '')).toBe(401)
  })

  test('401: an access token of a program is no credential of the REST API (asvs V9.2)', async () => {
    const { sub } = await newUser()
    const { access } = await connected(sub)
    const { status, body } = await world.market.client().get('/api/profile', { bearer: access })
    expect([status, body.code]).toEqual([401, 'bad_token'])
  })

  test('another resource cannot be asked for', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const { url } = await browser.open(
      program.authorizeUrl({ resource: 'https://other.example/mcp' }),
      {},
      CALLBACK,
    )
    expect(url.searchParams.get('error')).toBe('invalid_target')
    const received = await allow(browser, program.authorizeUrl(), { sub })
    const redeemed = await program.redeem(received.get('code') ?? '', {
      resource: 'https://other.example/mcp',
    })
    expect([redeemed.status, redeemed.body['error']]).toEqual([400, 'invalid_target'])
  })

  test('403 insufficient_scope: each message of a batch counts (asvs V8.3)', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const received = await allow(new FetchBrowser(), program.authorizeUrl({ scope: 'market:read' }), { sub })
    const { body } = await program.redeem(received.get('code') ?? '')
    const call = (id: number, name: string) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name, arguments: {} },
    })
    const response = await fetch(world.resource, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${body['access_token']}` },
      body: JSON.stringify([call(1, 'market_list_models'), call(2, 'market_approve_order')]),
    })
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_scope", scope="market:read market:write", resource_metadata=/,
    )
  })
})

describe('codes and refresh tokens', () => {
  test('a code that is used twice ends the whole connection', async () => {
    const { sub } = await newUser()
    const { program, code, access, refresh } = await connected(sub)
    expect(await statusOf(access)).toBe(200)
    const second = await program.redeem(code)
    expect([second.status, second.body['error']]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(access)).toBe(401)
    expect((await program.refresh(refresh)).status).toBe(400)
  })

  test('a refresh token that is used twice ends the whole family (asvs V10.2)', async () => {
    const { sub } = await newUser()
    const { program, refresh, access } = await connected(sub)
    const next = await program.refresh(refresh)
    expect(next.status).toBe(200)
    expect(next.body['refresh_token']).not.toBe(refresh)
    expect(await statusOf(next.body['access_token'] ?? '')).toBe(200)
    expect((await program.refresh(refresh)).body['error']).toBe('invalid_grant')
    expect((await program.refresh(next.body['refresh_token'] ?? '')).body['error']).toBe('invalid_grant')
    expect([await statusOf(access), await statusOf(next.body['access_token'] ?? '')]).toEqual([401, 401])
  })

  test('of six uses of a refresh token at once, at most one succeeds', async () => {
    const { sub } = await newUser()
    const { program, refresh } = await connected(sub)
    const all = await Promise.all(Array.from({ length: 6 }, () => program.refresh(refresh)))
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('no code, token or secret is readable in the database', async () => {
    const { sub } = await newUser()
    const { code, refresh, access } = await connected(sub)
    const rows = await world.market.db.selectFrom('oauth_records').selectAll().execute()
    const keys = await world.market.db.selectFrom('oauth_keys').selectAll().execute()
    const text = JSON.stringify([rows, keys.map(({ keys_sealed: sealed }) => sealed.toString('latin1'))])
    for (const secret of [code, refresh, access]) expect(text).not.toContain(secret)
    expect(text).not.toMatch(/"d":/)
  })

  test('a code without its verifier, and a request without a challenge, are rejected (asvs V10.1)', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub })
    const stolen = await program.redeem(received.get('code') ?? '', { code_verifier: 'x'.repeat(43) })
    expect(stolen.body['error']).toBe('invalid_grant')
    const bare = program.authorizeUrl()
    bare.searchParams.delete('code_challenge')
    const { url } = await new FetchBrowser().open(bare, {}, CALLBACK)
    expect(url.searchParams.get('error')).toBe('invalid_request')
  })

  test('a code is valid for a minute (asvs V10.1)', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub })
    const { db } = world.market
    const row = await db
      .selectFrom('oauth_records')
      .selectAll()
      .where('model', '=', 'AuthorizationCode')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow()
    const { id, created_at: from, expires_at: until } = row
    expect((until?.getTime() ?? 0) - from.getTime()).toBeLessThanOrEqual(61_000)
    await db.updateTable('oauth_records').set({ expires_at: from }).where('id', '=', id).execute()
    expect((await program.redeem(received.get('code') ?? '')).body['error']).toBe('invalid_grant')
  })

  test('a code of another program is rejected', async () => {
    const { sub } = await newUser()
    const [program, thief] = await Promise.all([registerProgram(world.url), registerProgram(world.url)])
    const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub })
    expect((await thief.redeem(received.get('code') ?? '')).body['error']).toBe('invalid_grant')
  })
})

describe('redirects and issuers', () => {
  test.each([
    'https://localhost:9999/callback',
    'http://localhost:9999/callback/',
    'http://localhost:9999/callback?next=https://evil.example',
    'http://localhost:9999@evil.example/callback',
    'http://localhost.evil.example:9999/callback',
    'http://LOCALHOST:9999/CALLBACK',
    'javascript:alert(1)',
  ])('a redirect to %s is not made (asvs V10.3)', async (redirect_uri) => {
    const program = await registerProgram(world.url)
    const page = await new FetchBrowser().open(program.authorizeUrl({ redirect_uri }))
    expect(page.status).toBe(400)
    expect(page.text).toContain('redirect_uri')
    expect(page.url.origin).toBe(world.url)
  })

  test('a loopback program may use another port', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const redirect_uri = 'http://localhost:9998/callback'
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl({ redirect_uri }), sub)
    const { url } = await browser.submit(consent, { decision: 'allow', agent: '' }, redirect_uri)
    expect(url.searchParams.get('code')).toBeTruthy()
  })

  test('mixed-up issuer: responses name the issuer, whatever Host the client sent (asvs V10.5)', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub })
    expect(received.get('iss')).toBe(world.url)
    const response = await fetch(`${world.url}/.well-known/oauth-authorization-server`, {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    })
    expect(JSON.stringify(await response.json())).not.toContain('evil.example')
  })

  test('a sign-in of another browser does not finish this one (asvs V7.1)', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const [victim, thief] = [new FetchBrowser(), new FetchBrowser()]
    const consent = await openConsent(victim, program.authorizeUrl(), sub)
    const stolen = await thief.open(consent.url)
    expect(stolen.status).toBe(400)
    const submitted = await thief.submit(consent, { decision: 'allow', agent: '' })
    expect([submitted.status, submitted.text]).toEqual([400, expect.stringContaining('another browser')])
  })
})

describe('the consent page', () => {
  test('names and addresses of hostile programs are shown as text (asvs V1.2)', async () => {
    const { sub } = await newUser()
    const client_name = '"><script>alert(1)</script>\u202Eevil\u0000'
    const program = await registerProgram(world.url, { client_name })
    const { text, headers } = await openConsent(new FetchBrowser(), program.authorizeUrl(), sub)
    expect(text).not.toContain('<script')
    expect(text).toContain('&#60;script&#62;')
    expect(text).not.toMatch(/\u202E/)
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; font-src 'self'; form-action 'self' http://localhost:9999; frame-ancestors 'none'; base-uri 'none'",
    )
  })

  test('another user’s agent cannot be chosen', async () => {
    const [owner, thief] = await Promise.all([newUser(), newUser()])
    const made = await world.market
      .client()
      .post(
        '/api/agents/register',
        { name: `Wanted ${owner.sub}`, description: 'Belongs to somebody else.' },
        { bearer: owner.token },
      )
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl(), thief.sub)
    expect(consent.text).not.toContain('Wanted')
    const page = await browser.submit(consent, { decision: 'allow', agent: made.body.data.agent_id })
    expect(page.status).toBe(403)
  })

  test('cancelled: the program gets access_denied, on both pages', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl(), sub)
    const cancelled = await browser.submit(consent, { decision: 'cancel' }, CALLBACK)
    expect(cancelled.url.searchParams.get('error')).toBe('access_denied')
    const login = await browser.open(program.authorizeUrl())
    const unsigned = await browser.submit(login, { sub: '' }, CALLBACK)
    expect(unsigned.url.searchParams.get('error')).toBe('access_denied')
  })

  test('double submit: the second click makes no second connection', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl(), sub)
    const first = await browser.submit(consent, { decision: 'allow', agent: '' }, CALLBACK)
    expect(first.url.searchParams.get('code')).toBeTruthy()
    const second = await browser.submit(consent, { decision: 'allow', agent: '' })
    expect([second.status, second.text]).toEqual([400, expect.stringContaining('connect again')])
    const grants = world.market.db.selectFrom('oauth_grants').select('id').where('idp_user_id', '=', sub)
    expect(await grants.execute()).toHaveLength(1)
  })

  test('double submit: five clicks at once make one connection', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl(), sub)
    const clicks = Array.from({ length: 5 }, () =>
      browser.submit(consent, { decision: 'allow', agent: '' }, CALLBACK),
    )
    const pages = await Promise.allSettled(clicks)
    const codes = pages.flatMap((one) =>
      one.status === 'fulfilled' ? (one.value.url.searchParams.get('code') ?? []) : [],
    )
    expect(codes.length).toBeGreaterThanOrEqual(1)
    const grants = world.market.db.selectFrom('oauth_grants').select('id').where('idp_user_id', '=', sub)
    expect(await grants.execute()).toHaveLength(1)
  })

  test('a form of another site is rejected (asvs V3.3)', async () => {
    const { sub } = await newUser()
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl(), sub)
    const page = await browser.open(new URL(`${consent.url.pathname}/decide`, consent.url), {
      method: 'POST',
      body: new URLSearchParams({ decision: 'allow', agent: '' }),
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(page.status).toBe(400)
  })

  test('another user can sign in before allowing', async () => {
    const [first, second] = await Promise.all([newUser(), newUser()])
    const program = await registerProgram(world.url)
    const browser = new FetchBrowser()
    const consent = await openConsent(browser, program.authorizeUrl(), first.sub)
    const login = await browser.open(new URL(`${consent.url.pathname}/again`, consent.url))
    const changed = await browser.submit(login, { sub: second.sub })
    const { url } = await browser.submit(changed, { decision: 'allow', agent: '' }, CALLBACK)
    const { body } = await program.redeem(url.searchParams.get('code') ?? '')
    expect(decodeJwt(body['access_token'] ?? '').sub).toBe(second.sub)
  })
})

test('a program that acts as an agent gets no secret of it, and cannot change where it is paid', async () => {
  const { sub, token } = await newUser()
  const made = await world.market.client().post(
    '/api/agents/register',
    {
      name: `Paid ${sub}`,
      description: 'Has an endpoint and a payout address.',
      endpoint_url: 'https://hooks.example/in',
    },
    { bearer: token },
  )
  const { agent_id: agent, api_key: bearer, webhook_secret: secret } = made.body.data
  const { access } = await connected(sub, agent)
  const own = await world.market.client().get('/api/agents/me', { bearer })
  expect(own.body.data.webhook_secret).toBe(secret)
  const read = await callTool(world.resource, access, 'market_get_profile')
  expect(read.body.result?.structuredContent).toMatchObject({ data: { id: agent, webhook_secret: null } })
  expect(JSON.stringify(read.body)).not.toContain(secret)
  const changed = await callTool(world.resource, access, 'market_update_profile', { ai_models: ['any'] })
  expect(changed.body.result?.structuredContent).toMatchObject({ data: { webhook_secret: null } })
  for (const payout of [
    { payout_address_base: '0x00000000000000000000000000000000000000b2' },
    { payout_wallet: null },
    { payout_chain: 'base' },
  ]) {
    const rejected = await callTool(world.resource, access, 'market_update_profile', payout)
    expect(rejected.body.result).toMatchObject({
      isError: true,
      _meta: { 'market/error': { status: 403, code: 'wrong_credential' } },
    })
  }
})

test('oauth.register: 60 registrations an hour from one address, then 429', async () => {
  const register = () =>
    fetch(`${world.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.77' },
      body: JSON.stringify({ client_name: 'Many', redirect_uris: [CALLBACK] }),
    })
  for (let n = 0; n < 60; n++) expect((await register()).status).toBe(201)
  const rejected = await register()
  expect([rejected.status, Number(rejected.headers.get('retry-after')) > 0]).toEqual([429, true])
})

describe('ending a connection', () => {
  test('on the page: at once, and only one’s own (asvs V7.2)', async () => {
    const [owner, other] = await Promise.all([newUser(), newUser()])
    const { access, program, refresh } = await connected(owner.sub)
    const browser = new FetchBrowser()
    const opened = async (sub: string, one = new FetchBrowser()) =>
      one.submit(await one.open(new URL(`${world.url}/oauth/connections`)), { sub })
    const page = await opened(owner.sub, browser)
    expect(page.text).toMatch(/By hand[\s\S]*a program on this device[\s\S]*<dd>you<\/dd>/)
    const thief = new FetchBrowser()
    await opened(other.sub, thief)
    await thief.submit(page, {})
    expect(await statusOf(access)).toBe(200)
    const after = await browser.submit(page, {})
    expect(after.text).toContain('No program is connected')
    expect(await statusOf(access)).toBe(401)
    expect((await program.refresh(refresh)).body['error']).toBe('invalid_grant')
  })

  test('by the program, by a new API key of the agent, and by deleting the account (asvs V7.2)', async () => {
    const { sub, token } = await newUser()
    const made = await world.market
      .client()
      .post(
        '/api/agents/register',
        { name: `Ended ${sub}`, description: 'Its key will be replaced.' },
        { bearer: token },
      )
    const agent = made.body.data.agent_id
    const [revoked, asAgent, asUser] = [
      await connected(sub),
      await connected(sub, agent),
      await connected(sub),
    ]
    await fetch(`${world.url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: revoked.refresh, client_id: revoked.program.body.client_id }),
    })
    expect(await statusOf(revoked.access)).toBe(401)
    expect(await statusOf(asAgent.access)).toBe(200)
    const rotated = await world.market.client().post(`/api/agents/${agent}/rotate-key`, {}, { bearer: token })
    expect(rotated.status).toBe(200)
    expect([await statusOf(asAgent.access), await statusOf(asUser.access)]).toEqual([401, 200])
    expect((await world.market.client().send('DELETE', '/api/profile', { bearer: token })).status).toBe(200)
    expect(await statusOf(asUser.access)).toBe(401)
    const grants = world.market.db.selectFrom('oauth_grants').select('id').where('idp_user_id', '=', sub)
    expect(await grants.execute()).toEqual([])
  })
})
