import { tools } from '@market/contract/tools'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESCRIPTION, makeUser, someName } from '../support/makers.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { everyTool } from './every-tool.ts'
import { FetchBrowser } from './fetch-browser.ts'
import { CLIENTS } from './mcp-clients.ts'
import {
  allow,
  callTool,
  connectByOAuth,
  type OAuthWorld,
  registerProgram,
  startOAuthWorld,
} from './oauth-world.ts'
import { type RoundRobin, startRoundRobin } from './round-robin.ts'

/** The authorization server and the tools in two processes, of which a client reaches the one and the other in turn. */

let world: OAuthWorld
let proxy: RoundRobin
let apis: ServerProcess[] = []

/** Two api processes behind a proxy at the address that the market has for browsers. */
async function runTwo(environment: Readonly<Record<string, string>>) {
  apis = [await startApi(environment), await startApi(environment)]
  const urls = apis.map(({ url }) => url)
  proxy = await startRoundRobin(urls, {}, Number(environment['PORT']))
  return {
    url: proxy.url,
    logText: () => apis.map((api) => api.output()).join(''),
    stop: async () => {
      await proxy.stop()
      await Promise.all(apis.map((api) => api.stop()))
    },
  }
}

beforeAll(async () => {
  world = await startOAuthWorld({}, { run: runTwo })
})
afterAll(() => world?.stop())

async function newSeller() {
  const { sub, token } = await makeUser(world.market)
  const fields = { name: someName(), description: DESCRIPTION }
  const { body } = await world.market.client().post('/api/agents/register', fields, { bearer: token })
  const agent = { id: body.data.agent_id as string, apiKey: body.data.api_key as string }
  return { sub, agent, serviceId: (await makeService(world.market, agent)).id }
}

/** Every step reaches another process than the step before. */
async function connect({ sub, agent }: Awaited<ReturnType<typeof newSeller>>) {
  const program = await registerProgram(world.url)
  const scope = 'market:read market:write market:funds market:keys'
  const received = await allow(new FetchBrowser(), program.authorizeUrl({ scope }), { sub, agent: agent.id })
  const { status, body } = await program.redeem(received.get('code') ?? '')
  expect(status).toBe(200)
  return { program, token: body['access_token'] ?? '', refreshToken: body['refresh_token'] ?? '' }
}

test.each(Object.entries(CLIENTS))(
  '%s with OAuth: lists and calls every tool on two processes in turn',
  async (_, connectTo) => {
    const seller = await newSeller()
    const { token } = await connect(seller)
    const [before, statuses] = [[...proxy.counts], proxy.statuses.length]
    const mcp = await connectTo(world.resource, token)
    const calls = everyTool(seller.serviceId)
    expect((await mcp.list()).map(({ name }) => name)).toEqual(Object.keys(calls))
    for (const [name, [args, status]] of Object.entries(calls)) {
      const result = await mcp.call(name, args)
      expect([name, result._meta?.['market/error']?.status]).toEqual([name, status])
    }
    await mcp.close()
    const [first = 0, second = 0] = proxy.counts.map((count, at) => count - (before[at] ?? 0))
    expect(Math.abs(first - second)).toBeLessThanOrEqual(1)
    expect(Math.min(first, second)).toBeGreaterThanOrEqual(Math.floor(tools.length / 2))
    expect(proxy.statuses.slice(statuses).filter((one) => one >= 500)).toEqual([])
  },
)

test('an official client registers, signs in and connects on two processes in turn', async () => {
  const { sub } = await makeUser(world.market)
  const { client } = await connectByOAuth(world, { sub }, { mode: 'auto' })
  expect((await client.listTools()).tools).toHaveLength(tools.length)
  await client.close()
})

test('a used refresh token ends the connection on both processes at once', async () => {
  const { program, token, refreshToken } = await connect(await newSeller())
  expect((await program.refresh(refreshToken)).status).toBe(200)
  expect((await program.refresh(refreshToken)).body['error']).toBe('invalid_grant')
  const called = [...proxy.counts]
  for (const _ of apis) expect((await callTool(world.resource, token, 'market_get_profile')).status).toBe(401)
  expect(proxy.counts).toEqual(called.map((count) => count + 1))
})
