import { expect, test } from 'vitest'
import { someAddress } from './client.ts'
import type { Market } from './market.ts'
import { rejected } from './rejected.ts'
import { type Subject, send, successOf, type ValidRequest } from './valid-request.ts'

/** Tokens with one error each. */
function badTokens({ idp }: Market): string[] {
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iss: idp.issuer, aud: idp.audience, sub: 'somebody', iat: now - 7_200, exp: now + 600 }
  return [
    idp.forge({ ...claims, exp: now - 3_600 }),
    idp.forge({ ...claims, aud: 'https://elsewhere.example' }),
    idp.forge({ ...claims, iss: 'https://elsewhere.example' }),
    idp.forge({ ...claims, sub: undefined }),
    idp.forge(claims, { alg: 'none' }),
    `${idp.forge(claims).slice(0, -6)}AAAAAA`,
    'not.a.token',
  ]
}

/** Missing and wrong credentials on an operation that requires some. */
export function rejectsOtherCallers(subject: Subject): void {
  const { market, operation, good } = subject
  const senderOf =
    ({ path, body }: ValidRequest) =>
    (headers: Record<string, string>) =>
      market()
        .client()
        .send(operation.method, path, {
          headers,
          from: someAddress(),
          ...(body !== undefined && { body: {} }),
        })

  test('401: no credential', async () => {
    const sendWith = senderOf(await good())
    rejected(await sendWith({}), 401, 'credentials_missing')
  })

  test('401: a credential that is malformed, mistyped, expired or issued for another audience', async () => {
    const sendWith = senderOf(await good())
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer two words']) {
      rejected(await sendWith({ authorization }), 401, 'bad_authorization')
    }
    for (const key of ['market_short', `market_${'0'.repeat(49)}`]) {
      rejected(await sendWith({ authorization: `Bearer ${key}` }), 401, 'bad_api_key')
    }
    rejected(await sendWith({ authorization: 'Bearer adm_guessed' }), 401, 'bad_admin_key')
    for (const token of badTokens(market())) {
      rejected(await sendWith({ authorization: `Bearer ${token}` }), 401, 'bad_token')
    }
  })

  test('401: a rejected credential is not repeated in the response or the log', async () => {
    const token = badTokens(market())[0] ?? ''
    const reply = await senderOf(await good())({ authorization: `Bearer ${token}` })
    expect(JSON.stringify(reply.body)).not.toContain(token)
    expect(market().logText()).not.toContain(token)
  })

  const acceptsCookies = operation.callers.some(
    (kind) => kind === 'user' || kind === 'admin' || kind === 'wallet',
  )
  const elsewhere = [{}, { origin: 'https://elsewhere.example' }, { 'sec-fetch-site': 'cross-site' }]
  if (acceptsCookies || operation.setsCookie === true) {
    test('403: a cookie that a browser sent from a page of another site', async () => {
      const cookie = `idp-token=${await market().idp.token({ sub: 'somebody' })}`
      const sendWith = senderOf(await good())
      for (const headers of elsewhere) rejected(await sendWith({ cookie, ...headers }), 403, 'cross_site')
    })
  } else {
    test('401: a cookie is ignored by an operation that users cannot call', async () => {
      const cookie = `idp-token=${await market().idp.token({ sub: 'somebody' })}`
      const sendWith = senderOf(await good())
      for (const headers of [...elsewhere, { 'sec-fetch-site': 'same-origin' }]) {
        rejected(await sendWith({ cookie, ...headers }), 401, 'credentials_missing')
      }
    })
  }

  if (operation.cosigned !== true) {
    test('400: two credentials at once', async () => {
      const headers = { 'x-market-wallet': '0x', 'x-market-wallet-sig': '0x', 'x-market-wallet-sig-ts': '1' }
      rejected(await send(subject, await good(), { bearer: 'market_key', headers }), 400, 'two_credentials')
    })
  }

  test('401: wallet fields with an invalid wallet', async () => {
    const wallet = {
      'x-market-wallet': 'nobody',
      'x-market-wallet-sig': '0x00',
      'x-market-wallet-sig-ts': '1',
    }
    const reply = await senderOf(await good())(wallet)
    rejected(reply, 401, 'bad_wallet_fields', { details: [{ path: 'wallet', message: expect.any(String) }] })
  })
}

/** An operation without required credentials still rejects a malformed Authorization header. */
export function rejectsUnreadableAuthorization(subject: Subject): void {
  test('401: an Authorization header that holds no bearer token', async () => {
    const call = await subject.good()
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer two words']) {
      rejected(await send(subject, call, { headers: { authorization } }), 401, 'bad_authorization')
    }
  })
}

/** Credentials of kinds that the operation does not accept. */
export function ignoresOtherCredentials(subject: Subject): void {
  const { operation, good } = subject

  test(`${successOf(subject)}: a credential of a kind that the operation does not accept is ignored`, async () => {
    const wrong = [
      { kind: 'agent', bearer: 'market_wrong' },
      { kind: 'admin_key', bearer: 'adm_wrong' },
    ] as const
    for (const { bearer } of wrong.filter(({ kind }) => !operation.callers.includes(kind))) {
      expect((await send(subject, await good(), { bearer })).status).toBe(successOf(subject))
    }
  })
}
