import { digestOf } from '@market/handlers/credential'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { until } from '../support/until.ts'
import { FetchBrowser } from './fetch-browser.ts'
import { allow, callTool, type OAuthWorld, registerProgram, startOAuthWorld } from './oauth-world.ts'

/** What the security log, the request log and the audit log say about connected programs. */

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())

type Line = Readonly<Record<string, unknown>>

const lines = (): Line[] =>
  world.market
    .logText()
    .split('\n')
    .slice(0, -1)
    .map((line): Line => JSON.parse(line))
const eventsAbout = (subject: string) =>
  lines().filter((line) => 'event' in line && line['subject'] === subject)
const auditOf = (subject: string) =>
  world.market.db.selectFrom('audit_log').selectAll().where('subject', '=', subject).orderBy('seq').execute()

/** A program that a new user connected. */
async function connected(scope = 'market:read market:write') {
  const { sub, token } = await makeUser(world.market)
  const program = await registerProgram(world.url)
  const browser = new FetchBrowser()
  const received = await allow(browser, program.authorizeUrl({ scope }), { sub })
  const code = received.get('code') ?? ''
  const { body } = await program.redeem(code)
  const allowed = lines().findLast(
    ({ event, program: of }) => event === 'oauth.access_allowed' && of === program.body.client_id,
  )
  return { sub, token, program, browser, code, tokens: body, allowed, grantId: String(allowed?.['grant_id']) }
}

test('registration: names the program and the client’s address', async () => {
  const { body } = await registerProgram(world.url, { client_name: 'Named' })
  expect(eventsAbout(body.client_id)).toEqual([
    expect.objectContaining({
      event: 'oauth.client_registered',
      outcome: 'done',
      operation: 'oauthRegister',
      caller: 'anonymous',
      client: '127.0.0.1',
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      details: { client_name: 'Named' },
    }),
  ])
})

test('consent: the event and the audit log name the user, the sign-in, the grant and the program', async () => {
  const { sub, program, allowed, grantId } = await connected()
  expect(allowed).toMatchObject({
    operation: 'oauthConsent',
    caller: `user:${sub}`,
    credential: 'login',
    credential_id: expect.stringMatching(/^[0-9a-f]{12}$/),
    subject: grantId,
    details: { client_name: 'By hand', scopes: ['market:read', 'market:write'] },
  })
  const [entry] = await auditOf(grantId)
  expect(entry).toMatchObject({
    act: 'oauth.connected',
    actor: `user:${sub}`,
    request_id: allowed?.['request_id'],
    credential: { kind: 'login', grant_id: grantId, program: program.body.client_id },
  })
  expect(eventsAbout(`user:${sub}`).at(-1)).toMatchObject({
    event: 'login.succeeded',
    operation: 'login',
    credential: 'login',
  })
})

test('calls: a change by a program is logged with its token, grant and program, also in the audit log (asvs V16.1)', async () => {
  const { sub, token } = await makeUser(world.market)
  const { body } = await world.market
    .client()
    .post(
      '/api/agents/register',
      { name: `Events ${sub.slice(-10)}`, description: 'Sells nothing but words.' },
      { bearer: token },
    )
  const agent = body.data.agent_id as string
  const program = await registerProgram(world.url)
  const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub, agent })
  const { body: tokens } = await program.redeem(received.get('code') ?? '')
  const access = String(tokens['access_token'])
  const name = `Renamed ${sub.slice(-10)}`
  const called = await callTool(world.resource, access, 'market_update_profile', { name })
  expect(called.body.result?.isError).toBeFalsy()
  const [entry] = (await auditOf(agent)).filter(({ act }) => act === 'agents.name')
  const credential = { kind: 'oauth_token', id: digestOf(access), program: program.body.client_id }
  expect(entry?.credential).toMatchObject({ ...credential, grant_id: expect.any(String) })
  await until('the request is logged', () => lines().some(({ credential_id: id }) => id === digestOf(access)))
  expect(lines().find(({ credential_id: id }) => id === digestOf(access))).toMatchObject({
    operation: 'mcp',
    caller: `agent:${agent}`,
    credential: 'oauth_token',
    grant_id: (entry?.credential as Line | undefined)?.['grant_id'],
    program: program.body.client_id,
  })
})

test('refresh token: a second use is one event of its own, and the connection ends', async () => {
  const { program, tokens, grantId } = await connected()
  const refresh = String(tokens['refresh_token'])
  expect((await program.refresh(refresh)).status).toBe(200)
  expect((await program.refresh(refresh)).status).toBe(400)
  const common = {
    operation: 'oauthToken',
    caller: 'unidentified',
    credential: 'oauth_token',
    credential_id: digestOf(refresh),
    grant_id: grantId,
    program: program.body.client_id,
    client: '127.0.0.1',
  }
  expect(eventsAbout(grantId).slice(1)).toEqual([
    expect.objectContaining({ ...common, event: 'oauth.refresh_token_reused', outcome: 'rejected' }),
    expect.objectContaining({ ...common, event: 'oauth.connection_ended', details: { by: 'reuse' } }),
  ])
  const ended = (await auditOf(grantId)).at(-1)
  expect(ended).toMatchObject({ act: 'oauth.ended', details: { by: 'reuse' }, actor: 'system:oauth' })
  expect(ended?.credential).toMatchObject({ kind: 'oauth_token', id: digestOf(refresh), grant_id: grantId })
  expect(world.market.logText()).not.toContain(refresh)
})

test('code: a second use is an event', async () => {
  const { program, code, grantId } = await connected()
  expect((await program.redeem(code)).status).toBe(400)
  expect(eventsAbout(grantId).slice(1)).toMatchObject([
    { event: 'oauth.code_reused', credential_id: digestOf(code), grant_id: grantId },
    { event: 'oauth.connection_ended', details: { by: 'reuse' } },
  ])
})

test('end: by the program and by the user, each names who did it', async () => {
  const first = await connected()
  await fetch(`${world.url}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: first.program.body.client_id,
      token: String(first.tokens['refresh_token']),
    }),
  })
  expect(eventsAbout(first.grantId).at(-1)).toMatchObject({
    event: 'oauth.connection_ended',
    operation: 'oauthRevoke',
    caller: `user:${first.sub}`,
    credential: 'oauth_token',
    details: { by: 'program' },
  })
  const second = await connected()
  const browser = new FetchBrowser()
  const page = await browser.submit(await browser.open(new URL(`${world.url}/oauth/connections`)), {
    sub: second.sub,
  })
  await browser.submit(page, {})
  expect(eventsAbout(second.grantId).at(-1)).toMatchObject({
    event: 'oauth.connection_ended',
    operation: 'oauthEndConnection',
    caller: `user:${second.sub}`,
    credential: 'login',
    grant_id: second.grantId,
    program: second.program.body.client_id,
    details: { by: 'user' },
  })
})

test('request log: every route of the authorization server has a name', async () => {
  await connected()
  const paths = ['/oauth/jwks', '/.well-known/oauth-authorization-server', '/oauth/connections']
  for (const path of paths) await fetch(`${world.url}${path}`, { redirect: 'manual' })
  const named = () =>
    new Set(lines().flatMap(({ operation, status }) => (status === undefined ? [] : [operation])))
  await until('all are logged', () => named().has('oauthConnections'))
  for (const name of [
    'oauthRegister',
    'oauthAuthorize',
    'oauthLogin',
    'login',
    'oauthConsent',
    'oauthToken',
    'oauthKeys',
    'oauthMetadata',
  ])
    expect([...named()]).toContain(name)
  expect([...named()]).not.toContain('other')
})
