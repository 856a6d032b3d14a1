import { request } from 'node:http'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asHeaders } from '../support/makers.ts'
import { type Dev, runDev, startDev } from './dev-process.ts'

let one: Dev
let two: Dev
beforeAll(async () => {
  ;[one, two] = await Promise.all([startDev(['--no-chains']), startDev(['--no-chains'])])
})
afterAll(() => Promise.all([one?.clear(), two?.clear()]))

describe('two dev environments at the same time', () => {
  test('each prints one JSON line with its own addresses and no other output', async () => {
    for (const dev of [one, two]) {
      expect(dev.said.out).toBe(`${JSON.stringify(dev.at)}\n`)
      expect(dev.said.err).toBe('')
      expect(Object.keys(dev.at)).toEqual([
        'api',
        'app',
        'web',
        'files',
        'control',
        'postgres',
        'redis',
        'idp',
        'networks',
        'sample_service',
        'admin_key',
        'admin',
      ])
    }
    for (const part of ['api', 'files', 'control', 'postgres', 'idp', 'admin_key'] as const)
      expect(one.at[part]).not.toBe(two.at[part])
  })

  test('an agent registered in one does not exist in the other', async () => {
    const agent = { name: 'Only In One', description: 'Lives in the first of two markets.' }
    const { status, body } = await one.api().post('/api/agents/register', agent)
    expect(status).toBe(201)
    const bearer = body.data.api_key
    expect((await one.api().get('/api/agents/me', { bearer })).status).toBe(200)
    expect((await two.api().get('/api/agents/me', { bearer })).status).toBe(401)
  })
})

test('the OpenAPI document has the address of the api', async () => {
  const description = await fetch(`${one.at.api}/api/openapi.json`).then((response) => response.json())
  expect(description).toMatchObject({ openapi: '3.1.0', servers: [{ url: one.at.api }] })
  expect((await fetch(`${one.at.api}/docs`)).status).toBe(200)
  expect((await fetch(`${one.at.api}/readyz`)).status).toBe(200)
})

test('the sample agents exist, each with an owner', async () => {
  const { body } = await two.api().get('/api/agents?sort=newest')
  const names = body.data.map((agent: { name: string }) => agent.name)
  expect(names.toSorted()).toEqual([
    'Changelog Writer',
    'Icon Painter',
    'Page Auditor',
    'Text Analyst',
    'Typescript Reviewer',
  ])
  expect(body.data.every((agent: { marketable: boolean }) => agent.marketable)).toBe(true)
  const services = (await two.api().get('/api/services')).body.data
  expect(services).toHaveLength(5)
  expect(services).toContainEqual(expect.objectContaining(two.at.sample_service))
})

test('/limits/reset: the 429 of the sixth registration names it, and then a seventh is possible', async () => {
  const register = (number: number) => {
    const agent = { name: `Limited ${number}`, description: 'Registered until the limit is reached.' }
    return one.api().post('/api/agents/register', agent, { from: '198.51.100.7' })
  }
  for (let number = 0; number < 5; number++) expect((await register(number)).status).toBe(201)
  const limited = await register(5)
  expect(limited.status).toBe(429)
  const [, url = ''] = /run `curl -X POST (\S+)`\.$/.exec(String(limited.body.error)) ?? []
  expect(url).toBe(`${one.at.control}/limits/reset`)
  const reset = await fetch(url, { method: 'POST' })
  expect(await reset.json()).toEqual({ reset: true })
  expect((await register(6)).status).toBe(201)
})

test('/webhooks/forward: only to this machine, and only for an agent that exists', async () => {
  const { agent_id: agent } = one.at.sample_service
  for (const to of [
    'https://127.0.0.1:9/',
    'http://10.0.0.1/',
    'http://example.com/',
    'ftp://localhost/',
    'x',
  ])
    expect(await one.control('/webhooks/forward', { agent, to })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('must be http://127.0.0.1') },
    })
  const unknown = await one.control('/webhooks/forward', { agent: 'agt_1', to: 'http://127.0.0.1:9/' })
  expect(unknown.status).toBe(400)
})

test('creating the samples does not use up rate limits', async () => {
  const agent = { name: 'From Here', description: 'Registered from this very machine.' }
  const reply = await two.api().post('/api/agents/register', agent, { from: '127.0.0.1' })
  expect(reply.status).toBe(201)
  expect(reply.headers.get('x-ratelimit-remaining')).toBe('4')
})

describe('a token from the control server', () => {
  const tokenOf = async (person: object) => {
    const { status, body } = await one.control('/idp/token', person)
    expect(status).toBe(200)
    return String(body['access_token'])
  }

  test('signs the user in, and the same email is the same user', async () => {
    const { address } = evmSigner()
    const person = { email: 'Cleo@example.com', twitter_username: 'cleo_builds', wallets: [address] }
    const first = await one.api().post('/api/auth/user', undefined, { bearer: await tokenOf(person) })
    expect(first.status).toBe(200)
    expect(first.body.data).toMatchObject({
      is_new: true,
      user: { twitter_username: 'cleo_builds', google_email: 'Cleo@example.com' },
      wallets: [{ address, chain: 'base' }],
    })
    const bearer = await tokenOf({ email: 'cleo@example.com' })
    const again = await one.api().post('/api/auth/user', undefined, { bearer })
    expect(again.body.data).toMatchObject({
      is_new: false,
      user: { idp_user_id: first.body.data.user.idp_user_id },
    })
  })

  test('of the operator can change switches, and the admin key can read them', async () => {
    const turn = { on: true, reason: 'A drill.' }
    const path = '/api/admin/switches/freeze_intake'
    const [operator, other] = await Promise.all([
      tokenOf({ email: 'operator@example.com' }),
      tokenOf({ email: 'someone@example.com' }),
    ])
    expect((await one.api().put(path, turn, { bearer: other })).status).toBe(403)
    expect((await one.api().put(path, turn, { bearer: operator })).status).toBe(200)
    expect((await one.api().put(path, { ...turn, on: false }, { bearer: operator })).status).toBe(200)
    expect((await one.api().get('/api/admin/switches', { bearer: one.at.admin_key })).status).toBe(200)
    expect((await two.api().get('/api/admin/switches', { bearer: one.at.admin_key })).status).toBe(401)
  })
})

describe('the clock', () => {
  /** A wallet's question about its own agents, signed as the api's own text says. */
  async function signedQuestion(dev: Dev) {
    const signer = evmSigner()
    const { body } = await dev.api().get(`/api/auth/message?wallet=${signer.address}`)
    const { message, wallet_sig_ts } = body.data
    const proof = { wallet: signer.address, wallet_sig: await signer.sign(message), wallet_sig_ts }
    return () => dev.api().get(`/api/agents?owner_wallet=${signer.address}`, { headers: asHeaders(proof) })
  }

  test('a move changes the times of new rows here and not in the other environment', async () => {
    const age = async (dev: Dev) => {
      const agent = {
        name: `Clocked ${Math.random()}`,
        description: 'Registered to read the time of its row.',
      }
      const { body } = await dev.api().post('/api/agents/register', agent)
      const { data } = (await dev.api().get('/api/agents/me', { bearer: body.data.api_key })).body
      return Date.parse(data.created_at) - Date.now()
    }
    expect((await one.control('/clock/advance', { seconds: 600 })).status).toBe(200)
    expect(await age(one)).toBeGreaterThan(540_000)
    expect(await age(two)).toBeLessThan(60_000)
  })

  test('signatures keep real time: one from before a move of ten minutes is still valid', async () => {
    const before = await signedQuestion(one)
    expect((await one.control('/clock/advance', { seconds: 600 })).status).toBe(200)
    expect((await before()).status).toBe(200)
    expect((await (await signedQuestion(one))()).status).toBe(200)
  })

  test('concurrent moves are all applied', async () => {
    const now = async (seconds: number) => {
      const { body } = await one.control('/clock/advance', { seconds })
      return Date.parse(String(body['now']))
    }
    const before = await now(0)
    for (let move = 0; move < 5; move++) await now(3_600)
    await Promise.all([now(3_600), now(3_600), now(3_600)])
    const moved = (await now(0)) - before
    expect(moved).toBeGreaterThanOrEqual(8 * 3_600_000)
    expect(moved).toBeLessThan(8 * 3_600_000 + 60_000)
  })
})

describe('the control server', () => {
  /** `fetch` does not let anybody write Host. */
  const withHost = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, 'content-type': 'application/json' }
      const asked = request(`${one.at.control}/clock/advance`, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.once('error', reject)
      asked.end('{"seconds":0}')
    })

  test('rejects requests that a browser sends for a page', async () => {
    const body = { email: 'victim@example.com' }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: one.at.control },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const reply = await one.control('/idp/token', body, headers)
      expect(reply).toEqual({
        status: 403,
        body: { error: 'This server does not accept requests of web pages' },
      })
    }
  })

  test('rejects another host name that resolves to it', async () => {
    const { port } = new URL(one.at.control)
    expect(await withHost(`evil.example:${port}`)).toBe(403)
    expect(await withHost('127.0.0.1')).toBe(403)
    expect(await withHost(`localhost:${port}`)).toBe(200)
  })

  test('accepts only JSON with known fields', async () => {
    const plain = await one.control(
      '/idp/token',
      { email: 'a@example.com' },
      { 'content-type': 'text/plain' },
    )
    expect(plain.status).toBe(415)
    for (const wrong of [{}, { seconds: '60' }, { seconds: -1 }, { seconds: 1.5 }, { seconds: 1, more: 1 }])
      expect((await one.control('/clock/advance', wrong)).status).toBe(400)
    for (const wrong of [{}, { email: 'nobody' }, { email: 'a@example.com', sub: 'operator' }])
      expect((await one.control('/idp/token', wrong)).status).toBe(400)
    expect((await one.control('/elsewhere', {})).status).toBe(404)
  })

  test('returns an error with the reason for transfers when there are no chains', async () => {
    expect(one.at.networks).toEqual({})
    const network = 'base-mainnet'
    const to = `0x${'1'.repeat(40)}`
    for (const [path, body] of [
      ['/wallets', { network }],
      ['/fund', { network, address: to, usdc: 1 }],
      ['/transfer', { network, to, amount_usd: 1 }],
    ] as const)
      expect(await one.control(path, body)).toEqual({
        status: 400,
        body: { error: 'There are no local chains. Restart without --no-chains.' },
      })
  })
})

describe('arguments', () => {
  test('that are invalid print the usage, and nothing is started', async () => {
    for (const args of [
      ['--prot', '3000'],
      ['--port', 'many'],
      ['--port', '70000'],
    ]) {
      const dev = runDev(args)
      expect(await dev.ended).toBe(2)
      expect(dev.said.out).toBe('')
      expect(dev.said.err).toContain('Usage: npm run dev')
      await dev.clear()
    }
  })

  test('a used port is reported, also when the other api shares ports, and nothing is left', async () => {
    const dev = runDev(['--json', '--no-chains', '--port', new URL(one.at.api).port])
    expect(await dev.ended).toBe(1)
    expect(dev.said).toEqual({ out: '', err: `Port ${new URL(one.at.api).port} is in use\n` })
    expect(dev.leftFiles()).toEqual([])
    await dev.clear()
  })

  test('without --json the addresses are printed with working commands', async () => {
    const dev = runDev(['--no-chains'])
    while (!dev.said.out.includes('/clock/advance'))
      await new Promise((more) => dev.child.stdout.once('data', more))
    expect(dev.said.out).toMatch(/^Agent Market is running\. Ctrl-C stops it/)
    expect(dev.said.err).toMatch(/^Starting PostgreSQL and Redis\n(.+\n)+Registering the sample agents\n$/)
    const api = / {2}api +(\S+)/.exec(dev.said.out)?.[1]
    expect((await fetch(`${api}/api/agents?limit=3`)).status).toBe(200)
    dev.child.kill('SIGINT')
    expect(await dev.ended).toBe(0)
    await dev.clear()
  })
})
