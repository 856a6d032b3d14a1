import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { operationList } from '@market/contract/operations'
import { connect } from '@market/database/connect'
import { walletSealPrivateKeys } from '@market/platform/settings/vault'
import { privateKeyOf } from '@market/platform/vault/seed-keys'
import { seedOpener } from '@market/platform/vault/seed-seal'
import { evmSigner } from '@market/testing/evm-signer'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asHeaders, DESCRIPTION, makeUser, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { requestOf } from '../support/operation-request.ts'
import { plainInput, type Schema } from '../support/schema-arbitraries.ts'
import { ADMIN_KEY, SHORT_WAIT, WALLET_SEAL } from '../support/settings.ts'
import { isServed } from '../support/valid-request.ts'
import { acceptedPrincipal, credentialOf, makeWorld, type World } from './authorization-fixture.ts'
import { resourcesOf } from './authorization-resources.ts'
import { findSecrets, SECRETS } from './secrets-in-text.ts'
import { storedSecrets, vaultOf } from './stored-secrets.ts'

const run = promisify(execFile)

let market: Market
let world: World
/** All secrets of requests and responses, by kind. */
const secrets = new Map<string, string>()
const keep = (name: string, secret: string) => secrets.set(name, secret)

beforeAll(async () => {
  market = await startMarket(
    { LOG_LEVEL: 'debug', ...SHORT_WAIT },
    { chains: ['base-mainnet', 'solana-mainnet'] },
  )
  world = await makeWorld(market)
  await leaveSecretsEverywhere()
})
afterAll(() => market.stop())

/** Every request that contains or returns a secret, also failing ones. */
async function leaveSecretsEverywhere() {
  const client = market.client()
  const endpoint_url = 'https://hooks.example/in'
  for (const [kind, agent] of Object.entries({ owned: world.agent, hidden: world.hiddenAgent })) {
    keep(`API key, ${kind}`, agent.apiKey)
    const me = await client.get('/api/agents/me', { bearer: agent.apiKey })
    keep(`webhook secret, ${kind}`, me.body.data.webhook_secret)
  }
  const kept = { name: someName(), description: DESCRIPTION, endpoint_url }
  const key = randomBytes(16).toString('hex')
  const once = await client.post('/api/agents/register', kept, { key, from: '198.51.100.7' })
  const again = await client.post('/api/agents/register', kept, { key, from: '198.51.100.7' })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body).toEqual(once.body)
  keep('API key, kept answer', once.body.data.api_key)
  keep('webhook secret, kept answer', once.body.data.webhook_secret)

  const wallet = evmSigner()
  const person = await makeUser(market, { wallets: [wallet.address] })
  keep('identity token', person.token)
  await client.post('/api/agents/link', { api_key: once.body.data.api_key }, { bearer: person.token })
  await client.post('/api/agents/recover', { idp_access_token: person.token }, { key: `${key}-recover` })
  await client.get('/api/profile', {
    headers: { cookie: `idp-token=${person.token}`, 'sec-fetch-site': 'same-origin' },
  })

  const inBody = await signed(wallet, 'agents.recover', market.now())
  keep('signature, in a body', inBody.wallet_sig)
  await client.post('/api/agents/recover', { ...inBody })
  const inQuery = await signed(wallet, 'session', market.now())
  keep('signature, in a query', inQuery.wallet_sig)
  const query = `wallet=${inQuery.wallet}&wallet_sig=${inQuery.wallet_sig}&wallet_sig_ts=${inQuery.wallet_sig_ts}`
  const listed = await client.get(`/api/agents?owner_wallet=${wallet.address}&${query}`)
  expect(listed.status).toBe(200)
  const inHeaders = await signed(wallet, 'session', market.now() - 1)
  keep('signature, in headers', inHeaders.wallet_sig)
  await client.get(`/api/agents?owner_wallet=${wallet.address}`, { headers: asHeaders(inHeaders) })

  keep('operator’s key', ADMIN_KEY)
  await client.get('/api/admin/switches', { bearer: ADMIN_KEY })
  keep('identity token, rejected', market.idp.forge({ sub: 'nobody' }))
  await client.get('/api/profile', { bearer: market.idp.forge({ sub: 'nobody' }) })
  await client.get(`/api/agents/${world.agent.apiKey}`)
  await client.post('/api/agents/link', `{"api_key": "${world.agent.apiKey}"`, { bearer: person.token })
}

/** The sealed seeds of agents' wallets, each with the row and field that it belongs to. */
async function sealedSeeds() {
  const rows = await market.db.selectFrom('agent_wallets').selectAll().execute()
  return rows.map((row) => ({
    address: row.address,
    sealed: row.secret_sealed,
    place: { row: `agent_wallets:${row.agent_id}:${row.chain}:${row.address}`, field: 'secret' },
  }))
}

/** As the worker opens them. */
async function walletSeeds(): Promise<Buffer[]> {
  const seeds = seedOpener(walletSealPrivateKeys.parse(WALLET_SEAL.worker.WALLET_SEAL_PRIVATE_KEYS))
  return Promise.all((await sealedSeeds()).map(({ sealed, place }) => seeds.open(sealed, place)))
}

/** The encodings in which a secret could appear in text. */
function formsOf(secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret)
  const spelled = ['hex', 'base64', 'base64url'] as const
  return [bytes.toString('latin1'), ...spelled.map((form) => bytes.toString(form).replace(/=+$/, ''))]
}

const holds = (text: string, secret: string | Buffer): boolean =>
  formsOf(secret).some((form) => text.includes(form))

async function dump(): Promise<string> {
  const { stdout } = await run('pg_dump', ['--format=plain', market.database.url], { maxBuffer: 2 ** 28 })
  return stdout
}

test('secrets: a database dump contains no secret in clear text, hex or base64 (asvs V6.1)', async () => {
  const text = await dump()
  // The dump is complete: it contains public values of the same rows.
  expect(text).toContain(world.agent.name)
  expect(text).toContain('secret_sealed')
  const found = [...secrets].filter(([, secret]) => holds(text, secret)).map(([name]) => name)
  expect(found).toEqual([])
  expect(text).not.toMatch(/market_[0-9A-Za-z]{49}|whsec_[\w-]{43}|eyJ[\w-]+\.eyJ/)
})

test('secrets: a database dump contains no seed of an agent’s wallet in any encoding', async () => {
  const text = await dump()
  const seeds = await walletSeeds()
  expect(seeds.length).toBeGreaterThan(2)
  for (const seed of seeds) {
    expect(seed).toHaveLength(32)
    expect(holds(text, seed)).toBe(false)
  }
})

test('wallet seeds: the worker opens them; nothing in the environment and role of the api does', async () => {
  const environment: Readonly<Record<string, string>> = market.environment
  const role = connect({ url: environment['DATABASE_URL'] ?? '' })
  const reading = role.selectFrom('agent_wallets').select('secret_sealed').execute()
  await expect(reading.finally(() => role.destroy())).rejects.toMatchObject({ code: '42501' })

  // Even with a copy of the table: every 32 bytes that the environment contains, tried as a key of each kind.
  const found = Object.values(environment).flatMap((value) => value.match(/[0-9a-f]{64}/g) ?? [])
  expect(found.length).toBeGreaterThan(5)
  const vault = vaultOf(market)
  const guesses = found.map((hex) => privateKeyOf(Buffer.from(hex, 'hex')))
  const seeds = await sealedSeeds()
  const opened = await walletSeeds()
  const signers = await Promise.all(opened.map((seed) => createKeyPairSignerFromPrivateKeyBytes(seed)))
  expect(signers.map(({ address }) => address)).toEqual(seeds.map(({ address }) => address))
  for (const { sealed, place } of seeds) {
    await expect(vault.open(sealed, place)).rejects.toThrow()
    for (const guess of guesses) {
      await expect(seedOpener([guess]).open(sealed, place)).rejects.toThrow('has no private key')
      // As if the value named the guessed key.
      const renamed = Buffer.concat([
        sealed.subarray(0, 1),
        Buffer.from(guess.publicKey.id, 'hex'),
        sealed.subarray(9),
      ])
      await expect(seedOpener([guess]).open(renamed, place)).rejects.toThrow(/failed/)
    }
  }
})

test('secrets: the search finds a secret that is present', async () => {
  const secret = secrets.get('API key, owned') ?? ''
  expect(holds(`bytea \\\\x00${Buffer.from(secret).toString('hex')}ff`, secret)).toBe(true)
  expect(holds(`{"a":"${secret}"}`, secret)).toBe(true)
})

test('storedSecrets: returns the keys and webhook secrets of all agents and no lookalikes', async () => {
  const stored = await storedSecrets(market)
  for (const [name, secret] of secrets)
    expect([name, stored.has(secret)]).toEqual([name, /^(API key|webhook secret)/.test(name)])
  expect(stored.has(`whsec_${'x'.repeat(43)}`)).toBe(false)
})

test('secrets: the log contains no secret and no signature, and each line is one JSON event (asvs V14.1)', () => {
  const log = market.logText()
  expect(log).toContain('request completed')
  const found = [...secrets].filter(([, secret]) => holds(log, secret)).map(([name]) => name)
  expect(found).toEqual([])
  for (const line of log.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
})

const fieldsIn = (schema: Schema): string[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [name, ...fieldsIn(field)]),
  ...(schema.anyOf ?? []).flatMap(fieldsIn),
  ...(schema.items ? fieldsIn(schema.items) : []),
]

const MASKED_BY = [
  'linkAgent',
  'getMyAgent',
  'getOwnedAgent',
  'listMyAgents',
  'updateMyAgent',
  'updateAgent',
  'confirmPayoutChange',
  'cancelPayoutChange',
]

describe.each(SECRETS)('$name', ({ name, returnedBy }) => {
  test('is returned only by the operations that may return it, elsewhere masked', () => {
    const named = operationList.filter(({ output }) =>
      fieldsIn(output.toJSONSchema({ io: 'output' }) as Schema).includes(name),
    )
    const ids = named.map(({ id }) => id)
    for (const id of returnedBy) expect(ids).toContain(id)
    // Only the API key has a masked form, which owners see.
    const masked = name === 'api_key' ? MASKED_BY : []
    expect(ids.sort()).toEqual([...returnedBy, ...masked].sort())
  })
})

test.each(operationList)('$id returns exactly the secrets that it may return', async (operation) => {
  // A new agent with an endpoint gets a webhook secret; an existing one already has it.
  const endpoint = operation.status === 201 ? { endpoint_url: 'https://hooks.example/in' } : {}
  const input = plainInput(operation, { ...resourcesOf(world, operation), ...endpoint })
  const { method, path, body } = requestOf(operation, input)
  const credential = await credentialOf(world, acceptedPrincipal(operation), operation, input)
  const reply = await market.client().send(method, path, { ...credential, ...(body && { body }) })
  expect(isServed(operation, reply.status)).toBe(true)
  const shown = new Set(findSecrets(JSON.stringify(reply.body)).map(({ name }) => name))
  expect([...shown]).toEqual(
    SECRETS.filter(({ returnedBy }) => returnedBy.has(operation.id)).map(({ name }) => name),
  )
})
