import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newApiKey } from './api-key.ts'
import { findAgentByKey } from './get-agent.ts'

let database: TestDatabase
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
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
    .set({ api_key_fingerprint: ctx.vault.fingerprint(newApiKey()) })
    .where('id', '=', agent.id)
    .execute()
  await expect(findAgentByKey(ctx, apiKey)).rejects.toMatchObject(BAD_KEY)
})
