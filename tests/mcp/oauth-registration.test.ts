import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { FetchBrowser } from './fetch-browser.ts'
import {
  allow,
  CALLBACK,
  type OAuthWorld,
  openConsent,
  registerProgram,
  startOAuthWorld,
} from './oauth-world.ts'

/** What programs in use register and ask for, beside what the official clients do. */

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())

async function connect(
  program: Awaited<ReturnType<typeof registerProgram>>,
  asked: Record<string, string> = {},
) {
  const { sub } = await makeUser(world.market)
  const received = await allow(new FetchBrowser(), program.authorizeUrl(asked), { sub })
  return program.redeem(received.get('code') ?? '', redirectOf(asked))
}

const redirectOf = ({ redirect_uri }: Record<string, string>) =>
  redirect_uri === undefined ? {} : { redirect_uri }

test('a program that says nothing about itself is public: no secret, ES256, code and refresh', async () => {
  const { status, body } = await registerProgram(world.url)
  expect(status).toBe(201)
  expect(body.client_secret).toBeUndefined()
  expect(body).toMatchObject({
    ...{ token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES256' },
    grant_types: ['authorization_code', 'refresh_token'],
    application_type: 'native',
    registration_client_uri: expect.stringContaining(`${world.url}/oauth/register/`),
  })
})

test('the scope of a registration does not limit what the program may ask for later', async () => {
  const program = await registerProgram(world.url, { scope: 'market:read' })
  const { body } = await connect(program, { scope: 'market:read market:write market:funds' })
  expect(body['scope']).toBe('market:read market:write market:funds')
})

test('grant types that are not offered are left out, and not an error', async () => {
  const grant_types = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code']
  const { status, body } = await registerProgram(world.url, { grant_types })
  expect([status, body]).toMatchObject([201, { grant_types: ['authorization_code', 'refresh_token'] }])
})

test('a refresh token is issued without offline_access, and none to a program without that grant type', async () => {
  const { body } = await connect(await registerProgram(world.url), { scope: 'market:read' })
  expect(body['refresh_token']).toMatch(/^\S{20,}$/)
  const once = await registerProgram(world.url, { grant_types: ['authorization_code'] })
  expect((await connect(once)).body['refresh_token']).toBeUndefined()
})

test('a program with its own URL scheme can connect, also when it does not say that it is native', async () => {
  const redirect_uri = 'com.example.program:/callback'
  const program = await registerProgram(world.url, { redirect_uris: [redirect_uri] })
  expect([program.status, program.body]).toMatchObject([201, { application_type: 'native' }])
  const { sub } = await makeUser(world.market)
  const consent = await openConsent(new FetchBrowser(), program.authorizeUrl({ redirect_uri }), sub)
  expect([consent.status, consent.text]).toEqual([200, expect.stringContaining('a program on this device')])
})

test('the user is asked each time, also for a program that is connected (asvs V10.4)', async () => {
  const { sub } = await makeUser(world.market)
  const program = await registerProgram(world.url)
  const browser = new FetchBrowser()
  await allow(browser, program.authorizeUrl(), { sub })
  const again = await browser.open(program.authorizeUrl())
  expect(again.text).toContain('Allow')
})

test('a refresh for another resource is rejected and ends the connection: the token was used', async () => {
  const program = await registerProgram(world.url)
  const { body } = await connect(program)
  const token = body['refresh_token'] ?? ''
  const wrong = await program.refresh(token, { resource: 'https://other.example/mcp' })
  expect(wrong.body['error']).toBe('invalid_target')
  expect((await program.refresh(token)).body['error']).toBe('invalid_grant')
})

test.each(['/oauth/register', '/oauth/token', '/oauth/revoke'])(
  'pages of other origins may use %s: it takes no cookie',
  async (path) => {
    const headers = { origin: 'https://inspector.example', 'access-control-request-method': 'POST' }
    const preflight = await fetch(`${world.url}${path}`, { method: 'OPTIONS', headers })
    const names = ['access-control-allow-origin', 'access-control-allow-credentials']
    expect([preflight.ok, ...names.map((name) => preflight.headers.get(name))]).toEqual([true, '*', null])
    const called = await fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: { origin: 'https://inspector.example', 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [CALLBACK] }),
    })
    expect(called.headers.get('access-control-allow-credentials')).toBeNull()
    expect(['*', 'https://inspector.example']).toContain(called.headers.get('access-control-allow-origin'))
  },
)
