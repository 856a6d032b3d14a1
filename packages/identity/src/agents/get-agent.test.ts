import { rotateKeys, testKeys } from '@market/testing/keys'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newApiKey } from './api-key.ts'
import { findAgentByKey } from './get-agent.ts'
import { resealAgents } from './secrets.ts'

let database: TestDatabase
let ctx: MarketContext
const keys = testKeys()
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db, keys })
})
afterAll(() => database.stop())

const BAD_KEY = { kind: 'unauthenticated', extra: { code: 'bad_api_key' } }

test('findAgentByKey: returns each caller its own agent when lookups share a query', async () => {
  const made: Awaited<ReturnType<typeof makeAgent>>[] = []
  while (made.length < 100) made.push(await makeAgent(ctx))
  const unknown = newApiKey()
  const lookups = [...made, ...made].map(({ apiKey }) => findAgentByKey(ctx, apiKey))
  const rejected = expect(findAgentByKey(ctx, unknown)).rejects.toMatchObject(BAD_KEY)
  const found = await Promise.all(lookups)
  expect(found.map(({ id }) => id)).toEqual([...made, ...made].map(({ agent }) => agent.id))
  await rejected
})

test('findAgentByKey: rejects a key as soon as it is replaced', async () => {
  const { agent, apiKey } = await makeAgent(ctx)
  expect(await findAgentByKey(ctx, apiKey)).toMatchObject({ id: agent.id })
  await ctx.db
    .updateTable('agents')
    .set({ api_key_fingerprint: ctx.vault.fingerprint('api_key', newApiKey()) })
    .where('id', '=', agent.id)
    .execute()
  await expect(findAgentByKey(ctx, apiKey)).rejects.toMatchObject(BAD_KEY)
})

test('findAgentByKey: finds an agent by a former hash key, resealAgents makes its fingerprint again', async () => {
  const { agent, apiKey } = await makeAgent(ctx)
  const rotated = rotateKeys(keys, 'API_KEY_HASH_KEYS')
  const both = { ...ctx, vault: rotated.both.vault }
  const newOnly = { ...ctx, vault: rotated.newOnly.vault }
  const registered = await makeAgent(both)
  expect(await findAgentByKey(both, apiKey)).toMatchObject({ id: agent.id })
  expect(await findAgentByKey(both, registered.apiKey)).toMatchObject({ id: registered.agent.id })
  await expect(findAgentByKey(newOnly, apiKey)).rejects.toMatchObject(BAD_KEY)

  const results = await resealAgents(both)
  expect(results.find(({ column }) => column === 'agents.api_key_fingerprint')).toMatchObject({ left: 0 })
  expect(await findAgentByKey(newOnly, apiKey)).toMatchObject({ id: agent.id })
  expect(await findAgentByKey(newOnly, registered.apiKey)).toMatchObject({ id: registered.agent.id })
})
