import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { connectSecond } from './mcp-clients.ts'

/** Credentials, hosts, origins, limits and idempotency of the unified server. */

let market: Market
let url: string
beforeAll(async () => {
  market = await startMarket({ BASE_URL: 'https://api.market.test', APP_URL: 'https://app.market.test' })
  url = `${market.url}/mcp`
})
afterAll(() => market.stop())

interface Sent {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** With any Host, which `fetch` does not allow. */
const send = (headers: Record<string, string>, method = 'POST', path = '/mcp'): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(market.url)
    const sent = request({
      hostname,
      port,
      path,
      method,
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString(),
        }),
      )
    })
    sent.end(method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) : undefined)
  })

test('401 with WWW-Authenticate: no credential, an unknown key, and a token of the identity provider', async () => {
  const token = await market.idp.token({ sub: 'user-1', email: 'a@example.com' })
  for (const authorization of [undefined, `Bearer market_${'x'.repeat(49)}`, `Bearer ${token}`]) {
    const reply = await send(authorization === undefined ? {} : { authorization })
    expect(reply.status).toBe(401)
    expect(reply.headers['www-authenticate']).toMatch(/^Bearer /)
    expect(JSON.parse(reply.body)).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } })
  }
})

test('403: another host name, as after DNS rebinding, and pages of another origin (asvs V4.3)', async () => {
  const { apiKey } = await makeAgent(market)
  const authorization = `Bearer ${apiKey}`
  for (const headers of [
    { host: 'evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example' },
  ])
    expect([headers, (await send({ authorization, ...headers })).status]).toEqual([headers, 403])
  for (const headers of [
    { host: 'app.market.test' },
    { host: 'app.market.test', origin: 'https://app.market.test' },
    { origin: 'http://localhost:6274' },
  ])
    expect([headers, (await send({ authorization, ...headers })).status]).toEqual([headers, 200])
})

test('308 from the host of the API to the host of the app, for every method; GET is 405 there', async () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const reply = await send({ host: 'api.market.test' }, method)
    expect([reply.status, reply.headers['location']]).toEqual([308, 'https://app.market.test/mcp'])
  }
  const { apiKey } = await makeAgent(market)
  expect((await send({ host: 'app.market.test', authorization: `Bearer ${apiKey}` }, 'GET')).status).toBe(405)
})

test('the manifest and llms.txt name both servers, and both exist', async () => {
  const [anonymous, unified] = ['https://api.market.test/api/x402/mcp', 'https://app.market.test/mcp']
  const manifest = await (await fetch(`${market.url}/.well-known/x402`)).json()
  expect(manifest).toMatchObject({ endpoints: { mcp: anonymous, unifiedMcp: unified } })
  const llms = await (await fetch(`${market.url}/llms.txt`)).text()
  for (const link of [anonymous, unified]) {
    expect(llms).toContain(`](${link})`)
    const { host, pathname } = new URL(link)
    expect((await send({ host }, 'POST', pathname)).status).not.toBe(404)
  }
})

test('limits count the credential; the error says when to call again', async () => {
  const [busy, other] = [await makeAgent(market), await makeAgent(market)]
  const clients = [await connectSecond(url, busy.apiKey), await connectSecond(url, other.apiKey)] as const
  const poll = () => clients[0].call('market_poll_orders')
  for (let n = 0; n < 30; n++) expect((await poll()).isError).not.toBe(true)
  const limited = await poll()
  expect(limited).toMatchObject({ isError: true, _meta: { 'market/error': { status: 429 } } })
  expect(limited.content[0]?.text).toMatch(
    /^Too many requests: at most 30 in an hour\. Try again in \d+ seconds\.$/,
  )
  expect((await clients[1].call('market_poll_orders')).isError).not.toBe(true)
  await Promise.all(clients.map((client) => client.close()))
})

test('an Idempotency-Key in _meta makes a repeated call return the first result', async () => {
  const { apiKey } = await makeAgent(market)
  const client = await connectSecond(url, apiKey, 'auto')
  const service = {
    ...{ title: 'Reads a branch', description: 'Reads the whole branch and writes what is wrong.' },
    ...{ category: 'coding', price_usd: '5.00', price_type: 'fixed', turnaround_hours: 24 },
  }
  const meta = { 'market/idempotency-key': 'service-1' }
  const [first, again] = [
    await client.call('market_create_service', service, meta),
    await client.call('market_create_service', service, meta),
  ]
  expect(again.structuredContent).toEqual(first.structuredContent)
  expect((await client.call('market_list_services')).structuredContent.data).toHaveLength(1)
  await client.close()
})
