import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError } from '@market/kernel/api-error'
import { type Idp, startIdp } from '@market/testing/idp'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { oidcIdentity } from './oidc-identity.ts'

let idp: Idp
const servers: Server[] = []

beforeAll(async () => {
  idp = await startIdp()
})
afterAll(() => idp.stop())
afterEach(async () => {
  for (const server of servers.splice(0)) await close(server)
})

const settings = (issuer = idp.issuer, timeoutMs = 3_000) => ({ issuer, audience: idp.audience, timeoutMs })
const identityOf = (issuer?: string, timeoutMs?: number) => oidcIdentity(settings(issuer, timeoutMs))

const nowSeconds = (): number => Math.floor(Date.now() / 1_000)
const goodClaims = () => ({
  iss: idp.issuer,
  aud: idp.audience,
  sub: 'user-1',
  iat: nowSeconds(),
  exp: nowSeconds() + 600,
})

async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  const reason: unknown = await call.then(
    () => new Error('the call succeeded'),
    (error: unknown) => error,
  )
  if (!(reason instanceof ApiError)) throw reason
  return reason
}

describe('a valid token', () => {
  test.each([
    ['is the time since auth_time', () => ({ auth_time: nowSeconds() - 1_000 }), 1_000],
    ['is zero for an auth_time within the tolerance ahead', () => ({ auth_time: nowSeconds() + 10 }), 0],
    ['is null for an auth_time in the future', () => ({ auth_time: nowSeconds() + 600 }), null],
    ['is null without auth_time', () => ({}), null],
    ['is null for an auth_time that is no number', () => ({ auth_time: String(nowSeconds()) }), null],
  ])('loginAgeSeconds %s', async (_, claims, age) => {
    const { loginAgeSeconds } = await identityOf().verify(idp.forge({ ...goodClaims(), ...claims() }))
    if (age === null) expect(loginAgeSeconds).toBeNull()
    else expect(Math.abs((loginAgeSeconds ?? -100) - age)).toBeLessThanOrEqual(5)
  })

  test.each([
    ['is the value', { roles: 'market-admin' }, true],
    ['contains the value', { roles: ['other', 'market-admin'] }, true],
    ['is missing', {}, false],
    ['has another value', { roles: ['market-admins'] }, false],
    ['has the value within a text', { roles: 'market-admin other' }, false],
    ['is another claim', { groups: ['market-admin'] }, false],
  ])('isAdmin when the claim %s', async (_, claims, expected) => {
    const identity = oidcIdentity({ ...settings(), adminClaim: { name: 'roles', value: 'market-admin' } })
    const { isAdmin } = await identity.verify(idp.forge({ ...goodClaims(), ...claims }))
    expect(isAdmin).toBe(expected)
  })

  test('has a type that the settings name, in any spelling (asvs V10.6)', async () => {
    const identity = oidcIdentity({ ...settings(), tokenTypes: ['jwt'] })
    for (const typ of ['JWT', 'application/jwt', undefined])
      await identity.verify(idp.forge(goodClaims(), { typ }))
    await identityOf().verify(idp.forge(goodClaims(), { typ: 'application/at+jwt' }))
    expect((await apiErrorOf(identity.verify(idp.forge(goodClaims())))).extra.code).toBe('bad_token')
    const idToken = idp.forge({ ...goodClaims(), nonce: 'n' }, { typ: 'JWT' })
    expect((await apiErrorOf(identity.verify(idToken))).extra.code).toBe('bad_token')
  })

  test('returns its user and their profile', async () => {
    const token = await idp.token({
      sub: 'user-1',
      email: 'ann@example.com',
      username: 'ann',
      name: 'Ann',
      picture: 'https://img.example.com/a.png',
      twitter_username: '@ann',
      wallets: ['0xAbC', 'So1'],
    })
    const identity = identityOf()
    expect(await identity.verify(token)).toEqual({
      userId: 'user-1',
      loginAgeSeconds: expect.any(Number),
      isAdmin: false,
    })
    expect(await identity.fetchProfile(token)).toEqual({
      userId: 'user-1',
      username: 'ann',
      displayName: 'Ann',
      avatarUrl: 'https://img.example.com/a.png',
      twitterUsername: 'ann',
      email: 'ann@example.com',
      wallets: ['0xAbC', 'So1'],
    })
  })

  test('omits a wallet after it was unlinked', async () => {
    const token = await idp.token({ sub: 'user-2', wallets: ['0x1'] })
    const identity = identityOf()
    expect((await identity.fetchProfile(token)).wallets).toEqual(['0x1'])
    idp.unlink('user-2', 'wallets')
    expect((await identity.fetchProfile(token)).wallets).toEqual([])
  })

  test('returns no profile after the provider revoked it (asvs V7.3)', async () => {
    const token = await idp.token({ sub: 'user-3' })
    const identity = identityOf()
    await identity.fetchProfile(token)
    idp.revoke(token)
    expect((await apiErrorOf(identity.fetchProfile(token))).extra.code).toBe('bad_token')
  })

  test('is accepted up to 30 seconds before its start and after its expiry', async () => {
    const late = idp.forge({ ...goodClaims(), exp: nowSeconds() - 20 })
    const early = idp.forge({ ...goodClaims(), nbf: nowSeconds() + 20 })
    expect(await identityOf().verify(late)).toMatchObject({ userId: 'user-1' })
    expect(await identityOf().verify(early)).toMatchObject({ userId: 'user-1' })
  })
})

type Forge = () => string | Promise<string>
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const withClaims =
  (change: Record<string, unknown>): Forge =>
  () =>
    idp.forge({ ...goodClaims(), ...change })
const withHeader =
  (change: Record<string, unknown>): Forge =>
  () =>
    idp.forge(goodClaims(), change)

async function providerJwk(): Promise<JsonWebKey> {
  const set = (await (await fetch(`${idp.issuer}/jwks`)).json()) as { keys: JsonWebKey[] }
  if (set.keys[0] === undefined) throw new Error('no key')
  return set.keys[0]
}

async function hs256With(secretOf: (jwk: JsonWebKey) => string): Promise<string> {
  const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'idp-1' })}.${encode(goodClaims())}`
  const secret = secretOf(await providerJwk())
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function signedByStranger(header: Record<string, unknown>): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256')
  return await new SignJWT(goodClaims())
    .setProtectedHeader({ alg: 'ES256', kid: 'idp-1', ...header })
    .sign(privateKey)
}

const strangerJwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const pemOf = (jwk: JsonWebKey): string =>
  createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()

const BAD_TOKENS: readonly (readonly [string, Forge])[] = [
  ['empty', () => ''],
  ['not a token', () => 'hello'],
  ['three dots of nothing', () => '..'],
  ['not ASCII', () => `${idp.forge(goodClaims())}é`],
  ['very long', () => `${idp.forge(goodClaims())}${'A'.repeat(10_000)}`],
  ['an API key', () => 'market_abcdefgh'],
  ['alg none without signature', () => `${encode({ alg: 'none', kid: 'idp-1' })}.${encode(goodClaims())}.`],
  ['alg NONE with the signature kept', withHeader({ alg: 'NONE' })],
  ['HS256 with the public key as JSON', () => hs256With((jwk) => JSON.stringify(jwk))],
  ['HS256 with the public key as PEM', () => hs256With(pemOf)],
  ['an algorithm outside the list', withHeader({ alg: 'ES512' })],
  ['no algorithm', withHeader({ alg: undefined })],
  ['wrong issuer', withClaims({ iss: 'https://evil.example' })],
  ['issuer with a slash more', () => idp.forge({ ...goodClaims(), iss: `${idp.issuer}/` })],
  ['no issuer', withClaims({ iss: undefined })],
  ['wrong audience', withClaims({ aud: 'https://other.example' })],
  ['audience of others only', withClaims({ aud: ['a', 'b'] })],
  ['no audience', withClaims({ aud: undefined })],
  ['expired', () => idp.forge({ ...goodClaims(), exp: nowSeconds() - 60 })],
  ['no expiry', withClaims({ exp: undefined })],
  ['expiry as text', withClaims({ exp: '9999999999' })],
  ['not valid yet', () => idp.forge({ ...goodClaims(), nbf: nowSeconds() + 120 })],
  ['no subject', withClaims({ sub: undefined })],
  ['empty subject', withClaims({ sub: '' })],
  ['subject that is a number', withClaims({ sub: 7 })],
  ['subject with a line break', withClaims({ sub: 'user-1\nuser-2' })],
  ['very long subject', withClaims({ sub: 'a'.repeat(256) })],
  ['no key id', withHeader({ kid: undefined })],
  ['unknown key id', withHeader({ kid: 'idp-2' })],
  ['key id with a path', withHeader({ kid: '../../dev/null' })],
  ['key id that is an object', withHeader({ kid: {} })],
  ['signed by another user under the known key id', () => signedByStranger({})],
  ['signed by another user with its own key inside', () => signedByStranger({ jwk: strangerJwk })],
  ['signed by another user with a key address', () => signedByStranger({ jku: 'https://evil.example/jwks' })],
  ['unknown critical header', withHeader({ crit: ['exp2'], exp2: 1 })],
  ['unencoded payload', withHeader({ crit: ['b64'], b64: false })],
  ['another kind of token', withHeader({ typ: 'logout+jwt' })],
  ['ID token: the type JWT', withHeader({ typ: 'JWT' })],
  ['ID token: no type', withHeader({ typ: undefined })],
  ['ID token: a nonce', () => idp.forge({ ...goodClaims(), nonce: 'n' })],
  ['ID token: the hash of an access token', () => idp.forge({ ...goodClaims(), at_hash: 'h' })],
  ['signature cut', () => idp.forge(goodClaims()).slice(0, -8)],
  ['signature missing', () => idp.forge(goodClaims()).replace(/\.[^.]*$/, '.')],
  [
    'payload exchanged',
    () => {
      const [head, , signature] = idp.forge(goodClaims()).split('.')
      return `${head}.${encode({ ...goodClaims(), sub: 'admin' })}.${signature}`
    },
  ],
  ['payload that is no object', () => idp.forge([] as unknown as Record<string, unknown>)],
]

describe('an invalid token is rejected as unauthenticated by verify and fetchProfile', () => {
  test.each(BAD_TOKENS)('%s (asvs V9.1)', async (_name, forge) => {
    const identity = identityOf()
    const token = await forge()
    for (const apiError of [
      await apiErrorOf(identity.verify(token)),
      await apiErrorOf(identity.fetchProfile(token)),
    ]) {
      expect(apiError).toMatchObject({ kind: 'unauthenticated', extra: { code: 'bad_token' } })
    }
  })

  test('each token of the table is invalid only for the named reason', async () => {
    expect(await identityOf().verify(idp.forge(goodClaims()))).toMatchObject({ userId: 'user-1' })
  })
})

describe('a provider that misbehaves', () => {
  /** Uses the keys of the real provider and its own userinfo. */
  async function twisted(userinfo: RequestListener, discovered: Record<string, unknown> = {}) {
    const keys = JSON.stringify({ keys: [await providerJwk()] })
    const issuer = await serve((request, response) => {
      if (request.url === '/jwks') return void response.end(keys)
      if (request.url === '/userinfo') return userinfo(request, response)
      const document = { issuer, jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/userinfo` }
      response.end(JSON.stringify({ ...document, ...discovered }))
    })
    return { identity: identityOf(issuer, 300), token: idp.forge({ ...goodClaims(), iss: issuer }) }
  }

  const says =
    (body: unknown): RequestListener =>
    (_request, response) =>
      void response.end(JSON.stringify(body))

  test.each([
    ['another subject', says({ sub: 'user-9', wallets: ['0x1'] })],
    ['no subject', says({ wallets: ['0x1'] })],
    ['401', (_request, response) => void response.writeHead(401).end()],
    ['403', (_request, response) => void response.writeHead(403).end()],
  ] as [string, RequestListener][])('userinfo with %s rejects the token', async (_name, userinfo) => {
    const { identity, token } = await twisted(userinfo)
    expect((await apiErrorOf(identity.fetchProfile(token))).extra.code).toBe('bad_token')
  })

  test.each([
    ['500', (_request, response) => void response.writeHead(500).end()],
    ['429', (_request, response) => void response.writeHead(429).end()],
    [
      'a redirect',
      (_request, response) => void response.writeHead(302, { location: 'https://evil.example' }).end(),
    ],
    ['no JSON', (_request, response) => void response.end('<html>')],
    ['a list', says([])],
    ['more than 64 KB', says({ sub: 'user-1', name: 'x'.repeat(70_000) })],
    ['a body that never ends', (_request, response) => void response.write('{"sub":')],
    ['no answer', () => undefined],
    ['a broken connection', (request) => void request.socket.destroy()],
  ] as [string, RequestListener][])('userinfo with %s is unavailable', async (_name, userinfo) => {
    const { identity, token } = await twisted(userinfo)
    const apiError = await apiErrorOf(identity.fetchProfile(token))
    expect(apiError).toMatchObject({ kind: 'unavailable', extra: { retryAfterSeconds: 2 } })
  })

  test.each([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['keys without https', { jwks_uri: 'http://evil.example/jwks' }],
    ['userinfo without https', { userinfo_endpoint: 'http://evil.example/me' }],
    ['no keys', { jwks_uri: undefined }],
    ['keys that are none', { jwks_uri: 'http://127.0.0.1:1/jwks' }],
  ])('discovery with %s is unavailable', async (_name, discovered) => {
    const { identity, token } = await twisted(says({ sub: 'user-1' }), discovered)
    expect((await apiErrorOf(identity.verify(token))).kind).toBe('unavailable')
  })

  test('invalid claims are dropped or shortened', async () => {
    const { identity, token } = await twisted(
      says({
        sub: 'user-1',
        username: { evil: true },
        name: ` \u202eAnn\u0000${'x'.repeat(200)}`,
        picture: 'javascript:alert(1)',
        twitter_username: 'not a handle',
        email: 'ann@example.com',
        email_verified: false,
        wallets: [
          1,
          null,
          '',
          'a b',
          'x'.repeat(500),
          ...Array.from({ length: 50 }, (_, i) => `w${i}`),
          'w1',
        ],
      }),
    )
    expect(await identity.fetchProfile(token)).toEqual({
      userId: 'user-1',
      username: null,
      displayName: `Ann${'x'.repeat(47)}`,
      avatarUrl: null,
      twitterUsername: null,
      email: null,
      wallets: Array.from({ length: 20 }, (_, i) => `w${i}`),
    })
  })

  test('concurrent calls share one request, and a later call makes a new one', async () => {
    let asked = 0
    const { identity, token } = await twisted((_request, response) => {
      asked += 1
      response.end(JSON.stringify({ sub: 'user-1' }))
    })
    await Promise.all(Array.from({ length: 20 }, () => identity.fetchProfile(token)))
    expect(asked).toBe(1)
    await identity.fetchProfile(token)
    expect(asked).toBe(2)
  })
})

describe('a provider that cannot be reached', () => {
  test('cached keys still verify tokens, and profile requests are unavailable', async () => {
    const own = await startIdp()
    const token = await own.token({ sub: 'user-1' })
    const identity = identityOf(own.issuer)
    await identity.verify(token)
    await own.stop()
    expect(await identity.verify(token)).toMatchObject({ userId: 'user-1' })
    expect((await apiErrorOf(identity.fetchProfile(token))).kind).toBe('unavailable')
    expect((await apiErrorOf(identityOf(own.issuer).verify(token))).kind).toBe('unavailable')
  })

  test('reports each token that it could not check, and no token that is wrong', async () => {
    let unreachable = 0
    const own = await startIdp()
    const token = await own.token({ sub: 'user-1' })
    const identity = oidcIdentity({ ...settings(own.issuer), onUnreachable: () => unreachable++ })
    await identity.verify(token)
    await apiErrorOf(identity.verify('a.b.c'))
    expect(unreachable).toBe(0)
    await own.stop()
    await apiErrorOf(identity.fetchProfile(token))
    await apiErrorOf(identity.fetchProfile(token))
    expect(unreachable).toBe(2)
  })

  test('an outage does not cause a request for every call', async () => {
    let asked = 0
    const issuer = await serve((_request, response) => {
      asked += 1
      response.writeHead(503).end()
    })
    const identity = identityOf(issuer)
    for (let i = 0; i < 10; i++) {
      expect((await apiErrorOf(identity.verify('a.b.c'))).kind).toBe('unavailable')
    }
    expect(asked).toBe(1)
  })

  test('rejects an issuer without https at start', () => {
    expect(() => identityOf('http://idp.example.com')).toThrow('not https')
  })
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
