import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FetchBrowser, type Page } from '../mcp/fetch-browser.ts'
import { CALLBACK, type OAuthWorld, registerProgram, startOAuthWorld } from '../mcp/oauth-world.ts'
import { makeUser } from '../support/makers.ts'

/** The login of browsers, and what a thief, another site or a careless user could try with it. */

let world: OAuthWorld
let sub: string
let browser: FetchBrowser
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())
beforeEach(async () => {
  ;({ sub } = await makeUser(world.market))
  browser = new FetchBrowser()
})

const at = (path: string) => new URL(path, world.url)
const cookieIn = ({ cookies }: FetchBrowser, name = 'idp-token') =>
  cookies.find((cookie) => cookie.name === name)?.value
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' }

/** Signs in up to the page to return to, whose status does not matter. */
async function login(query = '', by = browser, as = sub): Promise<Page> {
  const page = await by.open(at(`/auth/login${query}`))
  return by.submit(page, { sub: as })
}

const call = async (path: string, init: RequestInit = {}, by = browser) => {
  const response = await by.open(at(path), { ...init, headers: { ...OWN_PAGE, ...init.headers } })
  return { status: response.status, body: response.text === '' ? undefined : JSON.parse(response.text) }
}
const me = async (by = browser) => (await call('/api/me', {}, by)).body.data

const sessions = () => world.market.db.selectFrom('sessions').selectAll().where('idp_user_id', '=', sub)
const age = (change: Record<string, Date | null>) =>
  world.market.db.updateTable('sessions').set(change).where('idp_user_id', '=', sub).execute()

test('login: an opaque HttpOnly cookie; the tokens are sealed and the cookie is stored as a hash', async () => {
  await login()
  const token = cookieIn(browser) ?? ''
  expect(token).toMatch(/^session_user_[\w-]{43}$/)
  expect(await me()).toMatchObject({
    kind: 'user',
    credential: 'session',
    user: { idp_user_id: sub },
    login_at: expect.any(String),
    session: { reads_only: false },
  })
  const [row] = await sessions().execute()
  expect(row?.id).not.toContain(token)
  const text = [row?.access_token_sealed, row?.refresh_token_sealed].map((sealed) =>
    sealed?.toString('latin1'),
  )
  expect(text.join('')).not.toContain('eyJ')
  expect(row?.refresh_token_sealed).not.toBeNull()
  expect(world.market.logText()).not.toContain(token)
})

test('login: the cookie of an https address is Secure, HttpOnly and Lax, and that of the login has the prefix __Host-', async () => {
  const secure = await startOAuthWorld({
    APP_URL: 'https://market.example',
    BASE_URL: 'https://market.example',
  })
  try {
    const response = await fetch(`${secure.url}/auth/login`, { redirect: 'manual' })
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-login=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    )
    const out = await fetch(`${secure.url}/auth/logout`, {
      method: 'POST',
      headers: { origin: 'https://market.example' },
      redirect: 'manual',
    })
    expect(out.headers.get('set-cookie')).toMatch(
      /^idp-token=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/,
    )
  } finally {
    await secure.stop()
  }
})

describe('return_to', () => {
  test('a path of this site, with its query', async () => {
    const page = await login('?return_to=%2Fapi%2Fmodels%3Flimit%3D3')
    expect(page.url.href).toBe(`${world.url}/api/models?limit=3`)
  })

  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    'evil.example',
    '@evil.example',
    '/auth/login',
    '/é',
    '',
    `/${'a'.repeat(2_000)}`,
  ])('400 for %s: no open redirect', async (target) => {
    for (const query of [
      `return_to=${encodeURIComponent(target)}`,
      `return_to=/&return_to=${encodeURIComponent(target)}`,
    ]) {
      const response = await fetch(at(`/auth/login?${query}`), { redirect: 'manual' })
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
    }
    const out = await browser.open(at('/auth/logout'), {
      method: 'POST',
      body: new URLSearchParams({ return_to: target }),
      headers: { origin: world.url, ...OWN_PAGE },
    })
    expect(out.status).toBe(400)
  })
})

describe('the way to the provider and back', () => {
  /** Leaves the browser at the provider, and returns where the provider would send it. */
  async function callbackOf(by: FetchBrowser, as = sub): Promise<URL> {
    const page = await by.open(at('/auth/login'))
    const { url } = await by.submit(page, { sub: as }, `${world.url}/auth/callback`)
    return url
  }

  test('login CSRF: 400 for the callback of another browser, and no cookie', async () => {
    const { sub: attacker } = await makeUser(world.market)
    const stolen = await callbackOf(new FetchBrowser(), attacker)
    for (const visited of [false, true]) {
      if (visited) await browser.open(at('/auth/login'))
      const page = await browser.open(stolen)
      expect([page.status, cookieIn(browser)]).toEqual([400, undefined])
    }
  })

  test('replay: a code counts once, and a state not with another code', async () => {
    const url = await callbackOf(browser)
    await browser.open(url)
    const first = cookieIn(browser)
    expect((await browser.open(url)).status).toBe(401)
    expect(cookieIn(browser)).toBe(first)
    const [mine, other] = [await callbackOf(browser), await callbackOf(browser)]
    mine.searchParams.set('code', other.searchParams.get('code') ?? '')
    expect((await browser.open(mine)).status).toBe(401)
    expect(world.market.logText()).toContain('"event":"login.rejected"')
  })

  test('400: a state that was changed, a wrong issuer, and none', async () => {
    const url = await callbackOf(browser)
    const state = url.searchParams.get('state') ?? ''
    const [flow, expires, , , hash] = state.split('.')
    const elsewhere = Buffer.from('//evil.example').toString('base64url')
    for (const changed of ['', 'x', `${flow}.${expires}..${elsewhere}.${hash}`, `${state}x`]) {
      const to = new URL(url)
      to.searchParams.set('state', changed)
      expect((await browser.open(to)).status).toBe(400)
    }
    const mixed = new URL(url)
    mixed.searchParams.set('iss', 'https://evil.example')
    expect((await browser.open(mixed)).status).toBe(401)
    expect(cookieIn(browser)).toBeUndefined()
  })

  test('two tabs that sign in at once: both return, and one session is left', async () => {
    const [one, two] = [await callbackOf(browser), await callbackOf(browser)]
    await browser.open(two)
    await browser.open(one)
    expect((await me()).user.idp_user_id).toBe(sub)
    expect(await sessions().execute()).toHaveLength(1)
  })

  test('cancelled: back to the page, signed in as before', async () => {
    const page = await browser.open(at('/auth/login?return_to=/api/models'))
    const { url } = await browser.submit(page, { sub: '' })
    expect(url.href).toBe(`${world.url}/api/models?login=cancelled`)
    expect(cookieIn(browser)).toBeUndefined()
  })
})

test('fixation: a login gives a new session, and the one before ends', async () => {
  await login()
  const before = cookieIn(browser)
  await login('?max_age=900')
  expect(cookieIn(browser)).not.toBe(before)
  const old = { cookie: `idp-token=${before}`, ...OWN_PAGE }
  expect((await fetch(at('/api/profile'), { headers: old })).status).toBe(401)
  const chosen = `session_user_${'A'.repeat(43)}`
  const victim = new FetchBrowser()
  victim.cookies.push({ name: 'idp-token', value: chosen, path: '/', host: 'localhost' })
  await login('', victim)
  expect(cookieIn(victim)).not.toBe(chosen)
})

test('step-up: max_age goes to the provider, and the new login does what the old one could not', async () => {
  const response = await fetch(at('/auth/login?max_age=900&prompt=login'), { redirect: 'manual' })
  const asked = new URL(response.headers.get('location') ?? '').searchParams
  expect([asked.get('max_age'), asked.get('prompt')]).toEqual(['900', 'login'])
  await login()
  const token = world.market.idp.forge({
    ...{ iss: world.market.idp.issuer, aud: world.market.idp.audience, sub },
    ...{ exp: Math.floor(Date.now() / 1_000) + 600, auth_time: Math.floor(Date.now() / 1_000) - 1_000 },
  })
  const old = await world.market.client().send('DELETE', '/api/profile', { bearer: token })
  expect([old.status, old.body.code]).toEqual([401, 'login_too_old'])
  await login('?max_age=900')
  const done = await call('/api/profile', { method: 'DELETE', headers: { origin: world.url } })
  expect(done.status).toBe(200)
  // The account's sessions ended with it.
  expect((await call('/api/profile')).status).toBe(401)
  expect(await sessions().execute()).toEqual([])
})

test('deleting the account revokes the refresh tokens at the provider: a copy of the session does not work again', async () => {
  await login()
  const stolen = { cookie: `idp-token=${cookieIn(browser)}`, ...OWN_PAGE }
  const copy = await sessions().executeTakeFirstOrThrow()
  const deleted = await call('/api/profile', { method: 'DELETE', headers: { origin: world.url } })
  expect(deleted.status).toBe(200)
  // The account is there again, and the access token of the copy must be refreshed. The same browser would end its login at the provider.
  await login('', new FetchBrowser())
  const expired = { ...copy, access_expires_at: new Date(Date.now() - 1_000) }
  await world.market.db.insertInto('sessions').values(expired).execute()
  const reply = await fetch(at('/api/profile'), { headers: stolen })
  expect([reply.status, reply.headers.getSetCookie()]).toEqual([
    401,
    ['idp-token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'],
  ])
  expect(await sessions().where('id', '=', copy.id).execute()).toEqual([])
})

test.each(['x', '-1', '1e3', '99999999'])('400: max_age=%s', async (max_age) => {
  expect((await fetch(at(`/auth/login?max_age=${max_age}`), { redirect: 'manual' })).status).toBe(400)
})

describe('refresh', () => {
  const accessOf = async () => (await sessions().executeTakeFirstOrThrow()).access_expires_at

  test('before the access token expires, once for many requests, and the cookie stays', async () => {
    await login()
    const cookie = cookieIn(browser)
    for (const expired of [new Date(Date.now() + 30_000), new Date(Date.now() - 30_000)]) {
      await age({ access_expires_at: expired })
      const all = await Promise.all(Array.from({ length: 6 }, () => me()))
      for (const { user } of all) expect(user.idp_user_id).toBe(sub)
      expect((await accessOf())?.getTime()).toBeGreaterThan(Date.now() + 600_000)
    }
    expect(cookieIn(browser)).toBe(cookie)
    // A login is not made younger by a refresh.
    const { loginAt } = { loginAt: Date.parse((await me()).login_at) }
    expect(loginAt).toBeLessThanOrEqual(Date.now())
  })

  test('401 when the refresh token is not valid any more, and the session is over', async () => {
    await login()
    const { id, refresh_token_sealed: first } = await sessions().executeTakeFirstOrThrow()
    await age({ access_expires_at: new Date(Date.now() - 1_000) })
    await me()
    // The provider rotates refresh tokens, so the first one was used.
    await world.market.db
      .updateTable('sessions')
      .set({ access_expires_at: new Date(Date.now() - 1_000), refresh_token_sealed: first })
      .where('id', '=', id)
      .execute()
    const rejected = await call('/api/profile')
    expect([rejected.status, rejected.body.code]).toEqual([401, 'bad_token'])
    expect(await sessions().execute()).toEqual([])
  })

  test('a provider without refresh tokens: the session ends with the access token', async () => {
    const plain = await startOAuthWorld({ IDP_CLIENT_ID: 'login-1' })
    try {
      plain.market.idp.addLoginClient(`${plain.url}/auth/callback`, { refresh: false })
      const person = await makeUser(plain.market)
      const page = await browser.open(new URL('/auth/login', plain.url))
      await browser.submit(page, { sub: person.sub })
      const row = await plain.market.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow()
      expect([row.refresh_token_sealed, row.expires_at]).toEqual([null, row.access_expires_at])
      const read = () => browser.open(new URL('/api/profile', plain.url), { headers: OWN_PAGE })
      expect((await read()).status).toBe(200)
      await plain.market.db
        .updateTable('sessions')
        .set({ access_expires_at: new Date(Date.now() - 1_000) })
        .execute()
      expect((await read()).status).toBe(401)
    } finally {
      await plain.stop()
    }
  })

  test('a sealed token that was moved to another row does not open', async () => {
    await login()
    const mine = await sessions().executeTakeFirstOrThrow()
    const other = await makeUser(world.market)
    const theirs = new FetchBrowser()
    await login('', theirs, other.sub)
    await world.market.db
      .updateTable('sessions')
      .set({ access_token_sealed: mine.access_token_sealed })
      .where('idp_user_id', '=', other.sub)
      .execute()
    expect((await call('/api/me', {}, theirs)).status).toBe(500)
  })
})

describe('logout', () => {
  const logout = (headers: Record<string, string>, method = 'POST') =>
    browser.open(at('/auth/logout'), { method, headers })

  test('ends the session on the server, whatever the browser keeps', async () => {
    await login()
    const headers = { cookie: `idp-token=${cookieIn(browser)}`, ...OWN_PAGE }
    expect((await fetch(at('/api/profile'), { headers })).status).toBe(200)
    await logout({ origin: world.url, ...OWN_PAGE })
    expect(cookieIn(browser)).toBeUndefined()
    expect((await fetch(at('/api/profile'), { headers })).status).toBe(401)
    expect(await sessions().execute()).toEqual([])
    expect(world.market.logText()).toMatch(new RegExp(`"event":"login.ended"[^\n]*"subject":"user:${sub}"`))
  })

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a sibling origin', { origin: 'http://files.localhost', 'sec-fetch-site': 'same-site' }],
    ['a sibling origin without Origin', { 'sec-fetch-site': 'same-site' }],
    ['a page without an origin', { origin: 'null' }],
    ['nowhere', {}],
  ] as [string, Record<string, string>][])('403 from %s, and the session stays', async (_name, headers) => {
    await login()
    expect((await logout(headers)).status).toBe(403)
    expect((await me()).kind).toBe('user')
  })

  test('works while the provider cannot be reached and the tokens cannot be opened, by page and by API', async () => {
    const alone = await startOAuthWorld()
    try {
      const person = await makeUser(alone.market)
      const own = new URL('/', alone.url)
      const signedIn = async () => {
        const by = new FetchBrowser()
        await by.submit(await by.open(new URL('/auth/login', own)), { sub: person.sub })
        return by
      }
      const [one, two] = [await signedIn(), await signedIn()]
      const stored = () => alone.market.db.selectFrom('sessions').select('id').execute()
      expect(await stored()).toHaveLength(2)
      await alone.market.idp.stop()
      await alone.market.db
        .updateTable('sessions')
        .set({
          access_expires_at: new Date(Date.now() - 1_000),
          access_token_sealed: Buffer.from('damaged'),
          refresh_token_sealed: Buffer.from('damaged'),
        })
        .execute()
      const headers = { ...OWN_PAGE, origin: alone.url }
      const ended = await one.open(new URL('/api/auth/session', own), { method: 'DELETE', headers })
      expect([ended.status, JSON.parse(ended.text).data]).toEqual([200, { ended: 1 }])
      expect(cookieIn(one)).toBeUndefined()
      expect(await stored()).toHaveLength(1)
      await two.open(new URL('/auth/logout', own), { method: 'POST', headers })
      expect(cookieIn(two)).toBeUndefined()
      expect(await stored()).toEqual([])
    } finally {
      await alone.stop()
    }
  })

  test('404 by GET: a link or a picture signs nobody out', async () => {
    await login()
    expect((await logout(OWN_PAGE, 'GET')).status).toBe(404)
    expect((await me()).kind).toBe('user')
  })
})

test('a cookie whose session ended is no credential where none is needed, and 401 elsewhere', async () => {
  await login()
  await age({ created_at: new Date(Date.now() - 9_000), expires_at: new Date(Date.now() - 1_000) })
  for (const path of ['/api/agents', '/api/bounties']) expect((await call(path)).status).toBe(200)
  expect((await me()).kind).toBe('anonymous')
  expect((await call('/api/profile')).status).toBe(401)
})

test('CSRF: the cookie changes nothing from another site, a sibling origin, or without Sec-Fetch-Site and Origin', async () => {
  await login()
  const put = (headers: Record<string, string>) =>
    call('/api/profile', {
      method: 'PUT',
      body: JSON.stringify({ bio: 'Changed' }),
      headers: { 'content-type': 'application/json', 'sec-fetch-site': '', ...headers },
    })
  for (const headers of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'http://files.localhost', 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])
    expect((await put(headers)).status).toBe(403)
  const plain = await fetch(at('/api/profile'), {
    headers: { cookie: `idp-token=${cookieIn(browser)}` },
  })
  expect(plain.status).toBe(403)
  expect((await put({ origin: world.url, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
})

test('a consent needs a login of the last 15 minutes', async () => {
  await login()
  const page = await browser.open(at('/oauth/connections'))
  expect([page.status, page.url.pathname]).toEqual([200, '/oauth/connections'])
  const program = await registerProgram(world.url)
  expect((await browser.open(program.authorizeUrl(), {}, CALLBACK)).text).toContain('It acts for')
  await age({ created_at: new Date(Date.now() - 901_000) })
  const again = await browser.open(program.authorizeUrl(), {}, CALLBACK)
  expect(again.url.origin).toBe(world.market.idp.issuer)
  const consent = await browser.submit(again, { sub })
  expect(consent.text).toContain('It acts for')
})

test('a consent asks the provider for a login of the last 15 minutes, also where another account is chosen', async () => {
  const program = await registerProgram(world.url)
  const atProvider = `${world.market.idp.issuer}/auth`
  const askedOf = ({ url }: Page) => ['max_age', 'prompt'].map((name) => new URL(url).searchParams.get(name))
  const first = await browser.open(program.authorizeUrl(), {}, atProvider)
  expect(askedOf(first)).toEqual(['900', null])
  const page = await browser.open(program.authorizeUrl())
  const consent = await browser.submit(page, { sub })
  const again = await browser.open(new URL(`${consent.url}/again`), {}, atProvider)
  expect(askedOf(again)).toEqual(['900', 'login'])
})

test('an access token in the cookie still counts, as the specification says', async () => {
  const { token } = await makeUser(world.market)
  const headers = { cookie: `idp-token=${token}`, ...OWN_PAGE }
  expect((await fetch(at(operations.getProfile.path), { headers })).status).toBe(200)
})
