import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { freePort } from '@market/testing/postgres-server'
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { startMarket } from '../support/market.ts'
import { FetchBrowser, type Page } from './fetch-browser.ts'

/** Where programs of these tests receive their codes. Nothing listens there. */
export const CALLBACK = 'http://localhost:9999/callback'

/** The api with an authorization server, on an address that browsers and clients can use. */
export async function startOAuthWorld(
  overrides: Readonly<Record<string, string>> = {},
  options: Parameters<typeof startMarket<never>>[1] = {},
) {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const settings = {
    ...{ PORT: String(port), BASE_URL: url, APP_URL: url },
    ...{ IDP_CLIENT_ID: 'login-0', IDP_SCOPES: 'openid,email,profile' },
    ...overrides,
  }
  const market = await startMarket(settings, options)
  market.idp.addLoginClient(`${url}/auth/callback`)
  return { market, url, resource: `${url}/mcp`, stop: market.stop }
}

export type OAuthWorld = Awaited<ReturnType<typeof startOAuthWorld>>

/** What an official client stores about its authorization. */
export class StoredAuthorization implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata = { client_name: 'Test program', redirect_uris: [CALLBACK] }
  readonly clientMetadataUrl?: string
  readonly clients = new Map<string, OAuthClientInformationMixed>()
  saved: OAuthTokens | undefined
  asked: URL | undefined
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  #state = ''

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
  }
  clientInformation(of?: { issuer: string }) {
    return this.clients.get(of?.issuer ?? '')
  }
  saveClientInformation(information: OAuthClientInformationMixed, of?: { issuer: string }) {
    this.clients.set(of?.issuer ?? '', information)
  }
  tokens() {
    return this.saved
  }
  saveTokens(tokens: OAuthTokens) {
    this.saved = tokens
  }
  state() {
    this.#state = randomUUID()
    return this.#state
  }
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovery = state
  }
  discoveryState() {
    return this.#discovery
  }
  redirectToAuthorization(url: URL) {
    this.asked = url
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
}

/** Signs in at the identity provider and returns the consent page. */
export async function openConsent(browser: FetchBrowser, authorizeUrl: URL, sub: string): Promise<Page> {
  const login = await browser.open(authorizeUrl)
  return browser.submit(login, { sub })
}

/** Signs in, allows, and returns what the program receives. */
export async function allow(
  browser: FetchBrowser,
  authorizeUrl: URL,
  { sub, agent = '' }: { readonly sub: string; readonly agent?: string },
): Promise<URLSearchParams> {
  const consent = await openConsent(browser, authorizeUrl, sub)
  const { url } = await browser.submit(consent, { decision: 'allow', agent }, CALLBACK)
  return url.searchParams
}

export const newClient = (mode?: 'auto') =>
  new Client({ name: 'test', version: '1.0.0' }, mode === undefined ? {} : { versionNegotiation: { mode } })

/** A client of the second version that is connected by OAuth for this user. */
export async function connectByOAuth(
  { resource }: Pick<OAuthWorld, 'resource'>,
  user: { readonly sub: string; readonly agent?: string },
  { mode, stored = new StoredAuthorization() }: { mode?: 'auto'; stored?: StoredAuthorization } = {},
) {
  const newTransport = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider: stored })
  const first = newTransport()
  await newClient(mode)
    .connect(first)
    .catch(() => {})
  if (stored.asked === undefined) throw new Error('the client did not ask for an authorization')
  await first.finishAuth(await allow(new FetchBrowser(), stored.asked, user))
  const client = newClient(mode)
  const transport = newTransport()
  await client.connect(transport)
  return { client, stored, transport }
}

/** A program that speaks OAuth by hand, for what official clients never send. */
export async function registerProgram(url: string, fields: Record<string, unknown> = {}) {
  const response = await fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'By hand', redirect_uris: [CALLBACK], ...fields }),
  })
  const body = (await response.json()) as { client_id: string; error?: string; client_secret?: string }
  const verifier = randomBytes(32).toString('base64url')
  const authorizeUrl = (parameters: Record<string, string> = {}) => {
    const to = new URL(`${url}/oauth/authorize`)
    to.search = new URLSearchParams({
      ...{ response_type: 'code', client_id: body.client_id, redirect_uri: CALLBACK, state: 'state' },
      ...{ scope: 'market:read market:write', resource: `${url}/mcp`, code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...parameters,
    }).toString()
    return to
  }
  const token = async (parameters: Record<string, string>) => {
    const sent = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: body.client_id, redirect_uri: CALLBACK, ...parameters }),
    })
    return { status: sent.status, body: (await sent.json()) as Record<string, string> }
  }
  const redeem = (code: string, parameters: Record<string, string> = {}) =>
    token({ grant_type: 'authorization_code', code, code_verifier: verifier, ...parameters })
  const refresh = (refresh_token: string, parameters: Record<string, string> = {}) =>
    token({ grant_type: 'refresh_token', refresh_token, ...parameters })
  return { status: response.status, body, authorizeUrl, redeem, refresh }
}

/** One tool call with a token, as plain HTTP. */
export async function callTool(resource: string, token: string | undefined, name: string, args: object = {}) {
  const response = await fetch(resource, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: args },
    }),
  })
  const body = (await response.json()) as { result?: { isError?: boolean; structuredContent?: unknown } }
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body }
}
