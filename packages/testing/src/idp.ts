import { createPrivateKey, createSign, generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  type AdapterPayload,
  type ClientMetadata,
  type Configuration,
  Provider,
  type ResourceServer,
} from 'oidc-provider'
import { CLIENTS_CLOSE } from './idle-connections.ts'
import { memoryAdapter } from './idp-adapter.ts'
import { DEVICE_FLOW, page } from './idp-pages.ts'

/** A user in the provider's userinfo. */
export interface IdpPerson {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly username?: string
  readonly name?: string
  readonly picture?: string
  readonly twitter_username?: string
  readonly wallets?: readonly string[]
  /** A claim of the access token, not of userinfo. */
  readonly roles?: readonly string[]
}

/** The role that makes a user an operator, if the application lists them too. */
export const ADMIN_ROLE = 'market-admin'

export interface Idp {
  readonly issuer: string
  readonly audience: string
  /** Registers the user and issues an access token, a JWT for the audience. */
  token(person: IdpPerson): Promise<string>
  /** Adds a client that signs users in with a browser, and returns its id. It gets refresh tokens unless told otherwise. */
  addLoginClient(redirectUri: string, options?: { readonly refresh: boolean }): string
  /** Replaces the claims of `person.sub`. It applies to issued tokens at once. */
  setPerson(person: IdpPerson): void
  unlink(sub: string, what: Exclude<keyof IdpPerson, 'sub'>): void
  /** Revokes the token: userinfo rejects it, but its signature is still valid. */
  revoke(token: string): void
  /** How many requests this path of the provider got, such as `/me` for userinfo. */
  requestsTo(path: string): number
  /** Signs any claims with the provider's key, for tokens with one invalid claim. */
  forge(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string
  stop(): Promise<void>
}

/** The clients of the operators' and of the users' terminal program. They sign in by the device flow. */
export const ADMIN_CLIENT_ID = 'market-admin'
export const CLI_CLIENT_ID = 'market-cli'

const AUDIENCE = 'https://market.test/api'
const CLIENT_ID = 'market-console'
const KEY_ID = 'idp-1'
const HOUR_SECONDS = 3_600
const POLL_SECONDS = 1
const SCOPE = 'openid email profile market'

/** Starts an OpenID provider on a free loopback port. */
export async function startIdp(): Promise<Idp> {
  const people = new Map<string, IdpPerson>()
  const userinfoTokens = new Map<string, string>()
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })

  const server = createServer(CLIENTS_CLOSE)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const clients = new Map<string, AdapterPayload>()
  const provider = new Provider(issuer, configuration(jwk, people, userinfoTokens, clients))
  // A token of the device flow is accepted by userinfo too, as those of `token()`.
  provider.use(async (ctx, next) => {
    await next()
    const issued = (ctx.body as { access_token?: unknown } | null | undefined)?.access_token
    const { route, entities } = ctx['oidc'] ?? {}
    if (route !== 'token' || typeof issued !== 'string') return
    const { Client: client, Account: account, Grant: grant } = entities
    if (client === undefined || account === undefined || grant === undefined) return
    const { accountId } = account
    const stored = { client, accountId, grantId: grant.jti, gty: 'device_code', scope: SCOPE }
    userinfoTokens.set(issued, await new provider.AccessToken(stored).save())
  })
  // Without an interval, a program asks for its token every 5 seconds.
  provider.use(async (ctx, next) => {
    await next()
    if (ctx['oidc']?.route === 'device_authorization' && ctx.status === 200)
      ctx.body = { ...(ctx.body as object), interval: POLL_SECONDS }
  })
  const answer = provider.callback()
  const requests = new Map<string, number>()
  server.on('request', (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    requests.set(pathname, (requests.get(pathname) ?? 0) + 1)
    if (request.url?.startsWith(LOGIN_PATH)) void showLogin(provider, people, request, response)
    else void answer(request, response)
  })

  return {
    issuer,
    audience: AUDIENCE,
    async token(person) {
      people.set(person.sub, person)
      const client = await provider.Client.find(CLIENT_ID)
      if (client === undefined) throw new Error('the provider lost its client')
      const grant = new provider.Grant({ clientId: CLIENT_ID, accountId: person.sub })
      grant.addOIDCScope(SCOPE)
      grant.addResourceScope(AUDIENCE, 'market')
      const common = { client, accountId: person.sub, grantId: await grant.save(), gty: 'authorization_code' }
      const resourceServer = { ...RESOURCE, scopes: new Set(['market']), identifier: () => AUDIENCE }
      const jwt = await new provider.AccessToken({ ...common, scope: 'market', resourceServer }).save()
      userinfoTokens.set(jwt, await new provider.AccessToken({ ...common, scope: SCOPE }).save())
      return jwt
    },
    addLoginClient(redirectUri, { refresh } = { refresh: true }) {
      const client_id = `login-${clients.size}`
      const grant_types = ['authorization_code', ...(refresh ? ['refresh_token'] : [])]
      clients.set(client_id, { ...LOGIN_CLIENT, grant_types, client_id, redirect_uris: [redirectUri] })
      return client_id
    },
    setPerson: (person) => void people.set(person.sub, person),
    unlink(sub, what) {
      const { [what]: _unlinked, ...rest } = people.get(sub) ?? { sub }
      people.set(sub, { ...rest, sub })
    },
    revoke: (token) => void userinfoTokens.delete(token),
    requestsTo: (path) => requests.get(path) ?? 0,
    forge(claims, header = {}) {
      const head = { alg: 'ES256', typ: 'at+jwt', kid: KEY_ID, ...header }
      const signed = `${base64url(head)}.${base64url(claims)}`
      const key = createPrivateKey({ key: jwk, format: 'jwk' })
      const signature = createSign('sha256')
        .update(signed)
        .sign({ key, dsaEncoding: 'ieee-p1363' }, 'base64url')
      return `${signed}.${signature}`
    },
    async stop() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const LOGIN_PATH = '/interaction/'
const LOGIN_CLIENT = {
  application_type: 'native',
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
} as const

const DEVICE_CLIENT = {
  application_type: 'native',
  redirect_uris: [],
  response_types: [],
  grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
} as const satisfies Omit<ClientMetadata, 'client_id'>

/** A page with a button for each user, and one to cancel. It asks for no password. */
async function showLogin(
  provider: Provider,
  people: ReadonlyMap<string, IdpPerson>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { params } = await provider.interactionDetails(request, response)
    if (request.method !== 'POST') {
      const buttons = [...people.values()].map(
        ({ sub, email = sub }) => `<p><button name="sub" value="${sub}">${email}</button></p>`,
      )
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(
        page(
          'Sign in as',
          `<form method="post">${buttons.join('')}<p><button name="sub" value="">Cancel</button></p></form>`,
        ),
      )
      return
    }
    const accountId = new URLSearchParams(await text(request)).get('sub') ?? ''
    const clientId = String(params['client_id'])
    const grant = new provider.Grant({ clientId, accountId })
    grant.addOIDCScope(SCOPE)
    grant.addResourceScope(AUDIENCE, 'market')
    const result =
      accountId === ''
        ? { error: 'access_denied', error_description: 'cancelled' }
        : { login: { accountId, remember: false }, consent: { grantId: await grant.save() } }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
}

const RESOURCE: ResourceServer = {
  scope: 'market',
  audience: AUDIENCE,
  accessTokenFormat: 'jwt',
  accessTokenTTL: HOUR_SECONDS,
  jwt: { sign: { alg: 'ES256' } },
}

function configuration(
  jwk: JsonWebKey,
  people: ReadonlyMap<string, IdpPerson>,
  userinfoTokens: ReadonlyMap<string, string>,
  clients: ReadonlyMap<string, AdapterPayload>,
): Configuration {
  return {
    adapter: memoryAdapter(userinfoTokens, clients),
    interactions: { url: (_ctx, { uid }) => `${LOGIN_PATH}${uid}` },
    jwks: { keys: [{ ...jwk, kty: 'EC', kid: KEY_ID, alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        client_id: CLIENT_ID,
        redirect_uris: ['https://market.test/callback'],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: 'ES256',
      },
      { client_id: ADMIN_CLIENT_ID, ...DEVICE_CLIENT },
      { client_id: CLI_CLIENT_ID, ...DEVICE_CLIENT },
    ],
    cookies: { keys: [randomUUID()] },
    scopes: ['openid', 'email', 'profile', 'market'],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['username', 'name', 'picture', 'twitter_username', 'wallets'],
    },
    // Without a sign-in of its own, as that of `token()`, the user of a token has signed in just now.
    extraTokenClaims: (ctx, token) => ({
      auth_time: ctx?.oidc?.entities.RefreshToken?.authTime ?? Math.floor(Date.now() / 1_000),
      roles: people.get('accountId' in token ? token.accountId : '')?.roles,
    }),
    ttl: {
      AccessToken: HOUR_SECONDS,
      DeviceCode: HOUR_SECONDS,
      Grant: HOUR_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      RefreshToken: 24 * HOUR_SECONDS,
      Session: HOUR_SECONDS,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    features: {
      devInteractions: { enabled: false },
      deviceFlow: DEVICE_FLOW,
      revocation: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: () => RESOURCE },
    },
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
