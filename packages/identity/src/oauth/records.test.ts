import { DAY, HOUR, later } from '@market/kernel/clock'
import { makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { saveAccount } from '../accounts/index.ts'
import { createGrant, findActiveGrant } from './grants.ts'
import { loadKeys } from './keys.ts'
import { consumeRecord, deleteOldRecords, findRecord, saveRecord } from './records.ts'

let ctx: MarketContext
let stop: () => Promise<void>
let now: Date
beforeAll(async () => {
  const database = await testDatabase()
  const context = marketContext({ db: database.db })
  ctx = { ...context, clock: { ...context.clock, wallTime: () => now } }
  stop = database.stop
})
beforeEach(() => {
  now = new Date()
})
afterAll(() => stop())

test('records: expire, are consumed once, and secrets are found only by themselves', async () => {
  await saveRecord(ctx, 'RefreshToken', 'secret', { jti: 'secret', grantId: 'g' }, 60)
  expect(await findRecord(ctx, 'RefreshToken', 'secret')).toEqual({ jti: 'secret', grantId: 'g' })
  const [row] = await ctx.db.selectFrom('oauth_records').selectAll().where('grant_id', '=', 'g').execute()
  expect(JSON.stringify(row)).not.toContain('secret')
  const consumed = await Promise.all([1, 2, 3].map(() => consumeRecord(ctx, 'RefreshToken', 'secret')))
  expect(consumed.filter(Boolean)).toHaveLength(1)
  expect(await findRecord(ctx, 'RefreshToken', 'secret')).toMatchObject({ consumed: expect.any(Number) })
  now = later(now, 61_000)
  expect(await findRecord(ctx, 'RefreshToken', 'secret')).toBeUndefined()
})

test('deleteOldRecords: deletes what expired and unused clients, and ends grants without a refresh token', async () => {
  const profile = makeProfile()
  await ctx.transact((tx) => saveAccount(ctx, tx, profile))
  const grant = {
    ...{ userId: profile.userId, agentId: null, clientName: 'Program', redirectHost: 'program.example' },
    scopes: ['market:read'],
  }
  await createGrant(ctx, { ...grant, id: 'kept', clientId: 'used' })
  await createGrant(ctx, { ...grant, id: 'dead', clientId: 'unused' })
  for (const id of ['used', 'unused']) await saveRecord(ctx, 'Client', id, {}, undefined)
  await saveRecord(ctx, 'RefreshToken', 'living', { grantId: 'kept' }, (60 * DAY) / 1_000)
  await saveRecord(ctx, 'RefreshToken', 'expired', { grantId: 'dead' }, 60)
  now = later(now, 31 * DAY)
  await deleteOldRecords(ctx)
  expect(await findActiveGrant(ctx, 'kept')).toMatchObject({ grant: { id: 'kept' } })
  expect(await findActiveGrant(ctx, 'dead')).toBeUndefined()
  await deleteOldRecords(ctx)
  expect(await findRecord(ctx, 'Client', 'used')).toBeDefined()
  expect(await findRecord(ctx, 'Client', 'unused')).toBeUndefined()
})

test('loadKeys: one key for all processes; after 90 days a new one, which signs two hours later', async () => {
  const [first] = await Promise.all([loadKeys(ctx), loadKeys(ctx), loadKeys(ctx)])
  expect(await ctx.db.selectFrom('oauth_keys').select('id').execute()).toHaveLength(1)
  now = later(now, 91 * DAY - HOUR)
  const published = await loadKeys(ctx)
  expect(published.map(({ id }) => id)).toEqual([first[0].id, expect.any(String)])
  now = later(now, 3 * HOUR)
  const signing = await loadKeys(ctx)
  expect(signing[0].id).toBe(published[1]?.id)
  expect(signing[0].id).not.toBe(first[0].id)
})
