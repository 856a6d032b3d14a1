import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESCRIPTION, makeUser, someName } from '../support/makers.ts'
import { FetchBrowser } from './fetch-browser.ts'
import {
  allow,
  callTool,
  type OAuthWorld,
  openConsent,
  registerProgram,
  startOAuthWorld,
} from './oauth-world.ts'

/** The scope `market:keys`: without it a program leaves nothing behind that works after its connection. */

let world: OAuthWorld
beforeAll(async () => {
  world = await startOAuthWorld()
})
afterAll(() => world.stop())

async function makeOwner() {
  const { sub, token } = await makeUser(world.market)
  const made = await world.market
    .client()
    .post('/api/agents/register', { name: someName(), description: DESCRIPTION }, { bearer: token })
  return { sub, token, agent: made.body.data.agent_id as string, apiKey: made.body.data.api_key as string }
}

async function connect(scope: string, sub: string, agent = '') {
  const program = await registerProgram(world.url, { client_name: 'Helpful' })
  const received = await allow(new FetchBrowser(), program.authorizeUrl({ scope }), { sub, agent })
  const { body } = await program.redeem(received.get('code') ?? '')
  return { program, access: body['access_token'] ?? '', refresh: body['refresh_token'] ?? '' }
}

const agentsOf = (sub: string) =>
  world.market.db.selectFrom('agents').select('id').where('owner_user_id', '=', sub).execute()

test.each(['market:read', 'market:write', 'market:funds'])(
  'with %s register_agent is rejected before anything is created, and names market:keys',
  async (scope) => {
    const { sub } = await makeUser(world.market)
    const { access } = await connect(scope, sub)
    const before = await world.market.db.selectFrom('agents').select('id').execute()
    const fields = { name: someName(), description: DESCRIPTION }
    const rejected = await callTool(world.resource, access, 'market_register_agent', fields)
    expect([rejected.status, rejected.challenge]).toEqual([
      403,
      expect.stringMatching(/scope="[^"]*market:keys"/),
    ])
    expect(rejected.challenge).toContain('error="insufficient_scope"')
    expect(JSON.stringify(rejected.body)).toContain('market:keys. Connect again and allow it.')
    expect(await world.market.db.selectFrom('agents').select('id').execute()).toEqual(before)
  },
)

test('the scopes to ask for are those of the token and the missing ones', async () => {
  const { sub } = await makeUser(world.market)
  const { access } = await connect('market:funds', sub)
  const { challenge } = await callTool(world.resource, access, 'market_register_agent', {})
  expect(challenge).toContain('scope="market:read market:write market:funds market:keys"')
})

test('market:keys does not pay', async () => {
  const { sub } = await makeUser(world.market)
  const { access } = await connect('market:keys', sub)
  const paid = await callTool(world.resource, access, 'market_submit_payment', {})
  expect([paid.status, paid.challenge]).toEqual([403, expect.stringContaining('market:funds')])
})

test('a wallet signature in the arguments does not replace the scope', async () => {
  const { sub } = await makeUser(world.market)
  const { access } = await connect('market:write', sub)
  const fields = {
    name: someName(),
    description: DESCRIPTION,
    wallet: `0x${'1'.repeat(40)}`,
    wallet_sig: '0x',
  }
  expect((await callTool(world.resource, access, 'market_register_agent', fields)).status).toBe(403)
})

test('without market:keys a program neither sets nor removes endpoint_url, alone or in a batch', async () => {
  const { sub, agent, apiKey } = await makeOwner()
  const { access } = await connect('market:write', sub, agent)
  for (const endpoint_url of ['https://hooks.example/thief', null]) {
    const rejected = await callTool(world.resource, access, 'market_update_profile', {
      ...{ endpoint_url, description: `${DESCRIPTION} Changed.` },
    })
    expect([rejected.status, rejected.challenge]).toEqual([403, expect.stringContaining('market:keys')])
  }
  const call = (id: number, args: object) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name: 'market_update_profile', arguments: args },
  })
  const batch = await fetch(world.resource, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access}` },
    body: JSON.stringify([
      call(1, { ai_models: ['any'] }),
      call(2, { endpoint_url: 'https://hooks.example/' }),
    ]),
  })
  expect(batch.status).toBe(403)
  const own = await world.market.client().get('/api/agents/me', { bearer: apiKey })
  expect(own.body.data).toMatchObject({ endpoint_url: null, description: DESCRIPTION, ai_models: [] })
  const changed = await callTool(world.resource, access, 'market_update_profile', { ai_models: ['any'] })
  expect(changed.body.result?.isError).toBeFalsy()
})

test('with market:keys an agent registered over OAuth belongs to the user, and the program gets its key', async () => {
  const { sub, token } = await makeUser(world.market)
  const { access } = await connect('market:keys', sub)
  const fields = { name: someName(), description: DESCRIPTION }
  const made = await callTool(world.resource, access, 'market_register_agent', fields)
  expect(made.body.result?.structuredContent).toMatchObject({ data: { api_key: expect.any(String) } })
  expect(await agentsOf(sub)).toHaveLength(1)
  const recovered = await world.market.client().post('/api/agents/recover', {}, { bearer: token })
  expect(recovered.body.data.agents).toMatchObject([{ name: fields.name }])
})

test('API keys and logins register and set endpoint_url as before', async () => {
  const { token, agent, apiKey } = await makeOwner()
  const endpoint_url = 'https://hooks.example/in'
  const byKey = await callTool(world.resource, apiKey, 'market_update_profile', { endpoint_url })
  expect(byKey.body.result?.isError).toBeFalsy()
  const byLogin = await world.market
    .client()
    .patch(`/api/agents/${agent}`, { endpoint_url: null }, { bearer: token })
  expect(byLogin.status).toBe(200)
  const fields = { name: someName(), description: DESCRIPTION }
  expect((await callTool(world.resource, apiKey, 'market_register_agent', fields)).status).toBe(200)
})

/** The page on which the user sees connections. */
async function connectionsOf(sub: string) {
  const browser = new FetchBrowser()
  const login = await browser.open(new URL(`${world.url}/oauth/connections`))
  return { browser, page: await browser.submit(login, { sub }) }
}

test('ending a connection lists what it changed, and nothing of others', async () => {
  const { sub, agent, apiKey } = await makeOwner()
  const { access } = await connect('market:keys', sub, agent)
  await callTool(world.resource, access, 'market_update_profile', {
    endpoint_url: 'https://hooks.example/in',
  })
  const other = { name: someName(), description: DESCRIPTION }
  await callTool(world.resource, access, 'market_register_agent', other)
  await callTool(world.resource, access, 'market_list_models')
  await callTool(world.resource, access, 'market_update_profile', { name: 'Admin' })
  await callTool(world.resource, apiKey, 'market_update_profile', { ai_models: ['own'] })
  const registered = await world.market.db
    .selectFrom('agents')
    .select('id')
    .where('name', '=', other.name)
    .executeTakeFirstOrThrow()

  const { browser, page } = await connectionsOf(sub)
  const after = await browser.submit(page, {})
  expect(after.text).toContain('No program is connected')
  expect(after.text).toContain('What they changed stays until you change it.')
  const items = [...after.text.matchAll(/<li>([^<]*)<\/li>/g)].map(([, item]) => item)
  expect(items).toEqual([
    expect.stringMatching(new RegExp(`^Register an agent ${registered.id} \\(description, name\\), `)),
    expect.stringMatching(new RegExp(`^Update .* ${agent} \\(endpoint_url\\), `)),
  ])
})

test('a connection that its program ended is listed too, and the user is notified', async () => {
  const { sub, token, agent } = await makeOwner()
  const { access, refresh, program } = await connect('market:write', sub, agent)
  await callTool(world.resource, access, 'market_update_profile', { ai_models: ['any'] })
  await fetch(`${world.url}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ token: refresh, client_id: program.body.client_id }),
  })
  const { page } = await connectionsOf(sub)
  expect(page.text).toMatch(/Helpful[\s\S]*It changed:[\s\S]*\(ai_models\)/)
  const inbox = await world.market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data).toMatchObject([{ kind: 'oauth.ended' }, { kind: 'oauth.connected' }])
})

test('another user sees nothing of it', async () => {
  const [owner, other] = [await makeOwner(), await makeOwner()]
  const { access } = await connect('market:write', owner.sub, owner.agent)
  await callTool(world.resource, access, 'market_update_profile', { ai_models: ['any'] })
  expect((await connectionsOf(other.sub)).page.text).not.toContain('Helpful')
})

test('the consent page says what market:keys leaves behind', async () => {
  const { sub } = await makeUser(world.market)
  const program = await registerProgram(world.url)
  const asked = program.authorizeUrl({ scope: 'market:keys' })
  const { text } = await openConsent(new FetchBrowser(), asked, sub)
  expect(text).toContain('API keys, which keep working after you end the connection')
})
