import { tools } from '@market/contract/tools'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { FetchBrowser } from './fetch-browser.ts'
import {
  allow,
  callTool,
  connectByOAuth,
  type OAuthWorld,
  registerProgram,
  StoredAuthorization,
  startOAuthWorld,
} from './oauth-world.ts'

/** Connecting programs to accounts by OAuth, with the official clients. */

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())

async function newUser() {
  const { token, sub } = await makeUser(world.market)
  return { token, sub }
}

async function newAgentOf(token: string, name: string) {
  const { body } = await world.market
    .client()
    .post('/api/agents/register', { name, description: 'Sells nothing but words.' }, { bearer: token })
  return { id: body.data.agent_id as string, apiKey: body.data.api_key as string }
}

test('metadata: the challenge leads to the resource, and the resource to the authorization server', async () => {
  const { status, challenge } = await callTool(world.resource, undefined, 'market_get_profile')
  expect(status).toBe(401)
  expect(challenge).toBe(
    `Bearer scope="market:read", resource_metadata="${world.url}/.well-known/oauth-protected-resource/mcp"`,
  )
  const resource = await (await fetch(`${world.url}/.well-known/oauth-protected-resource/mcp`)).json()
  expect(resource).toMatchObject({ resource: world.resource, authorization_servers: [world.url] })
  const answered = await fetch(`${world.url}/.well-known/oauth-authorization-server`)
  const server = (await answered.json()) as Record<string, unknown>
  expect(server).toMatchObject({
    issuer: world.url,
    authorization_endpoint: `${world.url}/oauth/authorize`,
    token_endpoint: `${world.url}/oauth/token`,
    registration_endpoint: `${world.url}/oauth/register`,
    code_challenge_methods_supported: ['S256'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  })
  expect(server['token_endpoint_auth_methods_supported']).toEqual(['none'])
  expect(server['scopes_supported']).toEqual(
    expect.arrayContaining(['market:read', 'market:write', 'market:funds', 'market:keys']),
  )
})

test.each([undefined, 'auto'] as const)(
  'client 2 (%s): registers, connects and calls tools for the user',
  async (mode) => {
    const { sub } = await newUser()
    const { client, stored } = await connectByOAuth(world, { sub }, { ...(mode && { mode }) })
    expect((await client.listTools()).tools).toHaveLength(tools.length)
    const browsed = await client.callTool({ name: 'market_browse_agents', arguments: {} })
    expect(browsed.isError).toBeFalsy()
    const token = stored.saved?.access_token ?? ''
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    const claims = decodeJwt(token)
    expect(claims).toMatchObject({ iss: world.url, aud: world.resource, sub, scope: 'market:read' })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(900)
    await client.close()
  },
)

test('client 1: registers, connects and calls tools', async () => {
  const { sub } = await newUser()
  const stored = new StoredAuthorization()
  const transport = () => new FirstTransport(new URL(world.resource), { authProvider: stored as never })
  const info = { name: 'test', version: '1.0.0' }
  const first = transport()
  await expect(new FirstClient(info).connect(first as never)).rejects.toThrow()
  const received = await allow(new FetchBrowser(), stored.asked ?? new URL('about:blank'), { sub })
  await first.finishAuth(received.get('code') ?? '')
  const client = new FirstClient(info)
  await client.connect(transport() as never)
  expect((await client.listTools()).tools).toHaveLength(tools.length)
  expect((await client.callTool({ name: 'market_list_models' })).isError).toBeFalsy()
  await client.close()
})

test('a program that needs more asks again, and the user allows it', async () => {
  const user = await newUser()
  const agent = await newAgentOf(user.token, `Writer ${user.sub}`)
  const { client, stored, transport } = await connectByOAuth(
    world,
    { sub: user.sub, agent: agent.id },
    { mode: 'auto' },
  )
  const profile = await client.callTool({ name: 'market_get_profile', arguments: {} })
  expect(profile.structuredContent).toMatchObject({ data: { id: agent.id } })
  stored.asked = undefined
  const change = { name: 'market_update_profile', arguments: { description: 'Writes more than before.' } }
  await expect(client.callTool(change)).rejects.toThrow()
  expect((stored.asked as URL | undefined)?.searchParams.get('scope')).toBe('market:read market:write')
  const asked = stored.asked ?? expect.unreachable('it asked')
  await transport.finishAuth(await allow(new FetchBrowser(), asked, { sub: user.sub, agent: agent.id }))
  expect((await client.callTool(change)).isError).toBeFalsy()
  await client.close()
})

test('a grant without an agent buys for the user; it cannot sell, and reads nothing of another user', async () => {
  const { sub } = await newUser()
  const program = await registerProgram(world.url)
  const received = await allow(new FetchBrowser(), program.authorizeUrl(), { sub })
  const { body } = await program.redeem(received.get('code') ?? '')
  const profile = await callTool(world.resource, body['access_token'], 'market_get_profile')
  expect(profile.body.result).toMatchObject({ isError: true, _meta: { 'market/error': { status: 403 } } })
  const order = await callTool(world.resource, body['access_token'], 'market_get_order', {
    order_id: 'ord_1700000000000_zzzzzz',
  })
  expect(order.body.result).toMatchObject({ isError: true, _meta: { 'market/error': { status: 404 } } })
})

test('the connection is in the audit log, and the user is notified', async () => {
  const { sub, token } = await newUser()
  await connectByOAuth(world, { sub })
  const { body } = await world.market.client().get('/api/notifications', { bearer: token })
  expect(body.data).toMatchObject([{ title: 'Test program was connected to your account' }])
  const [entry] = await world.market.db
    .selectFrom('audit_log')
    .selectAll()
    .where('actor', '=', `user:${sub}`)
    .where('act', '=', 'oauth.connected')
    .execute()
  expect(entry?.details).toMatchObject({ client_name: 'Test program', scopes: ['market:read'] })
})
