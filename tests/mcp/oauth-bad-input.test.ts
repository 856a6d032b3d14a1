import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { FILES_URL } from '../support/settings.ts'
import { FetchBrowser } from './fetch-browser.ts'
import { CALLBACK, type OAuthWorld, registerProgram, startOAuthWorld } from './oauth-world.ts'

/** Input without credentials that no honest program sends: an error of the client, never of the server. */

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())

const faults = async (): Promise<number> => {
  const text = await (await fetch(`${world.url}/metrics`)).text()
  return Number(/^market_faults_total (\d+)$/m.exec(text)?.[1])
}

const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
  fetch(`${world.url}${path}`, { method: 'POST', headers: { 'content-type': type }, body })

test('a cookie of a session with other characters than ASCII counts as none', async () => {
  const cookie = `idp-token=session_user_${'é'.repeat(43)}`
  const response = await fetch(`${world.url}/oauth/connections`, { headers: { cookie }, redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([
    303,
    '/auth/login?return_to=%2Foauth%2Fconnections',
  ])
})

test('400: a cookie of the sign-in with other characters than ASCII', async () => {
  const url = `${world.url}/auth/callback?code=x&state=${'a'.repeat(32)}`
  const response = await fetch(url, { headers: { cookie: `login=${'é'.repeat(32)}` } })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('connect again')])
})

test.each([
  ['/oauth/token', 'grant_type=authorization_code&code=x&client_id=%00'],
  ['/oauth/token', 'grant_type=refresh_token&refresh_token=%00&client_id=a%00b'],
  ['/oauth/revoke', 'token=%00&client_id=%00'],
])('400: POST %s with %s', async (path, body) => {
  const response = await post(path, body)
  expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }])
})

test('400: GET /oauth/authorize with a NUL in client_id', async () => {
  const response = await fetch(`${world.url}/oauth/authorize?client_id=%00&response_type=code`)
  expect(response.status).toBe(400)
})

test('400: a file whose id contains NUL', async () => {
  const response = await fetch(world.market.fileAt(`${FILES_URL}/upl_%00/x`))
  expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid' }])
})

test('400: ending a connection whose id contains NUL', async () => {
  const { sub } = await makeUser(world.market)
  const browser = new FetchBrowser()
  await browser.submit(await browser.open(new URL(`${world.url}/oauth/connections`)), { sub })
  const page = await browser.open(new URL(`${world.url}/oauth/connections/end`), {
    method: 'POST',
    body: new URLSearchParams({ connection: '\0' }),
    headers: { origin: world.url, 'sec-fetch-site': 'same-origin' },
  })
  expect(page.status).toBe(400)
})

const ODD = ['x', '', 0, -1, true, null, {}, [], [null], [5], [{}], [['x']], ['\0'], '\0', { a: { b: [] } }]
const FIELDS = [
  ...['redirect_uris', 'client_name', 'grant_types', 'response_types', 'token_endpoint_auth_method'],
  ...[
    'application_type',
    'scope',
    'contacts',
    'jwks',
    'jwks_uri',
    'logo_uri',
    'client_uri',
    'default_max_age',
  ],
  ...['default_acr_values', 'subject_type', 'id_token_signed_response_alg', 'post_logout_redirect_uris'],
  ...['client_secret', 'client_id', 'market_policy', 'sector_identifier_uri', 'response_modes'],
]

test.each(FIELDS)('register: %s of any type is 201 or 400', async (field) => {
  const statuses = []
  for (const value of ODD) {
    const response = await fetch(`${world.url}/oauth/register`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': `198.51.100.${FIELDS.indexOf(field) + 1}`,
      },
      body: JSON.stringify({ redirect_uris: [CALLBACK], [field]: value }),
    })
    statuses.push(response.status)
  }
  expect(statuses.filter((status) => status !== 201 && status !== 400)).toEqual([])
})

test.each(['', 'null', '[]', '"x"', '5', '{'])('400: register with the body %j', async (body) => {
  expect((await post('/oauth/register', body, 'application/json')).status).toBe(400)
})

test('none of these was a fault of the server', async () => {
  expect(await faults()).toBe(0)
  expect(world.market.logText()).not.toContain('unexpected error')
})

test('500: an error inside the authorization server is logged with its request and counted (asvs V16.3)', async () => {
  const { body } = await registerProgram(world.url)
  const { db } = world.market
  await sql`alter table oauth_records rename to oauth_records_away`.execute(db)
  try {
    const response = await post(
      '/oauth/token',
      `grant_type=authorization_code&code=x&client_id=${body.client_id}`,
    )
    expect(response.status).toBe(500)
    const line = world.market
      .logText()
      .split('\n')
      .find((one) => one.includes('unexpected error'))
    expect(line).toContain(response.headers.get('x-request-id'))
    expect(await faults()).toBe(1)
  } finally {
    await sql`alter table oauth_records_away rename to oauth_records`.execute(db)
  }
})
