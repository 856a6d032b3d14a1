import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { DAY, HOUR, SECOND } from '@market/kernel/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { acquireLease, deleteOldRequests, releaseLease, storeResponse } from './leases.ts'
import { LEASE_MS, type Lease, type RequestKey } from './request.ts'

const fingerprintOf = (text: string) => createHash('sha256').update(text).digest()

const requestOf = (fields: Partial<RequestKey> = {}): RequestKey => ({
  scope: 'agent:one',
  key: randomUUID(),
  operation: 'registerAgent',
  fingerprint: fingerprintOf('the request'),
  ...fields,
})

const RESPONSE = { status: 201, body: { data: { id: 1, text: 'ä😀' } } }

describe('idempotency', () => {
  let ctx: MarketContext
  let database: Awaited<ReturnType<typeof testDatabase>>
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.stop())
  beforeEach(() => {
    ctx = marketContext({ db: database.db })
  })

  const acquire = async (request: RequestKey): Promise<Lease> => {
    const acquired = await acquireLease(ctx, request)
    if (!('lease' in acquired)) throw new Error('got a stored response instead of a lease')
    return acquired.lease
  }

  test('the first request gets the lease; repetitions get its stored response', async () => {
    const request = requestOf()
    const lease = await acquire(request)
    await storeResponse(ctx, ctx.db, lease, RESPONSE)
    expect(await acquireLease(ctx, request)).toEqual({ replay: RESPONSE })
    expect(await acquireLease(ctx, request)).toEqual({ replay: RESPONSE })
  })

  test('of concurrent requests one gets the lease and the others its response', async () => {
    const request = requestOf()
    let leases = 0
    const responses = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const acquired = await acquireLease(ctx, request)
        if ('replay' in acquired) return acquired.replay
        leases += 1
        await storeResponse(ctx, ctx.db, acquired.lease, RESPONSE)
        return RESPONSE
      }),
    )
    expect(leases).toBe(1)
    expect(responses).toEqual(Array(8).fill(RESPONSE))
  })

  test('a repetition waits for the running request and gets its response', async () => {
    const request = requestOf()
    const lease = await acquire(request)
    const queried = new EventTarget()
    const now = () => {
      queried.dispatchEvent(new Event('query'))
      return ctx.clock.now()
    }
    const secondQuery = once(queried, 'query').then(() => once(queried, 'query'))
    const repetition = acquireLease({ ...ctx, clock: { ...ctx.clock, now } }, request)
    await secondQuery
    await storeResponse(ctx, ctx.db, lease, RESPONSE)
    expect(await repetition).toEqual({ replay: RESPONSE })
  })

  test('returns 409 request_in_progress when the first request does not end', async () => {
    const request = requestOf()
    await acquire(request)
    await expect(acquireLease(ctx, request)).rejects.toMatchObject({
      kind: 'conflict',
      extra: { code: 'request_in_progress', retryAfterSeconds: 1 },
    })
  })

  test('a released key can be used at once for a different request', async () => {
    const request = requestOf()
    await releaseLease(ctx, await acquire(request))
    const other = { ...request, fingerprint: fingerprintOf('another request') }
    expect((await acquire(other)).attempt).toBe(2)
  })

  test('releasing a lease does not delete a stored response', async () => {
    const request = requestOf()
    const lease = await acquire(request)
    await storeResponse(ctx, ctx.db, lease, RESPONSE)
    await releaseLease(ctx, lease)
    expect(await acquireLease(ctx, request)).toEqual({ replay: RESPONSE })
  })

  test('after a lease expired, its holder can no longer store a response', async () => {
    const request = requestOf()
    const expired = await acquire(request)
    ctx.clock.advance(LEASE_MS + 1)
    const successor = await acquire(request)
    await expect(storeResponse(ctx, ctx.db, expired, { status: 200, body: 'late' })).rejects.toMatchObject({
      extra: { code: 'request_taken_over' },
    })
    await storeResponse(ctx, ctx.db, successor, RESPONSE)
    await expect(storeResponse(ctx, ctx.db, expired, { status: 200, body: 'late' })).rejects.toMatchObject({
      extra: { code: 'request_taken_over' },
    })
    expect(await acquireLease(ctx, request)).toEqual({ replay: RESPONSE })
  })

  test('an expired lease stays invalid after the key was released and old rows were deleted', async () => {
    const request = requestOf()
    const expired = await acquire(request)
    ctx.clock.advance(LEASE_MS + 1)
    await releaseLease(ctx, await acquire(request))
    await deleteOldRequests(ctx)
    const third = await acquire(request)
    expect(third.attempt).toBe(3)
    await expect(storeResponse(ctx, ctx.db, expired, RESPONSE)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('a lease of an earlier database epoch is free at once, and its holder can store no response', async () => {
    const request = requestOf()
    const before = await acquire(request)
    await ctx.db
      .updateTable('requests')
      .set({ database_epoch: 'an earlier one' })
      .where('key', '=', request.key)
      .execute()
    const after = await acquire(request)
    await expect(storeResponse(ctx, ctx.db, before, RESPONSE)).rejects.toMatchObject({
      extra: { code: 'request_taken_over' },
    })
    await expect(acquireLease(ctx, request)).rejects.toMatchObject({ extra: { code: 'request_in_progress' } })
    await storeResponse(ctx, ctx.db, after, RESPONSE)
    expect(await acquireLease(ctx, request)).toEqual({ replay: RESPONSE })
  })

  test('a lease is valid until its last millisecond', async () => {
    const request = requestOf()
    await acquire(request)
    ctx.clock.advance(LEASE_MS)
    await expect(acquireLease(ctx, request)).rejects.toMatchObject({ extra: { code: 'request_in_progress' } })
  })

  test.each([
    ['another fingerprint', { fingerprint: fingerprintOf('another request') }],
    ['another operation', { operation: 'linkAgent' }],
  ])('returns 422 for the same key with %s, while running, expired or done', async (_what, change) => {
    const request = requestOf()
    const keyReused = { kind: 'unprocessable', extra: { code: 'idempotency_key_reused' } }
    const lease = await acquire(request)
    await expect(acquireLease(ctx, { ...request, ...change })).rejects.toMatchObject(keyReused)
    ctx.clock.advance(LEASE_MS + SECOND)
    await expect(acquireLease(ctx, { ...request, ...change })).rejects.toMatchObject(keyReused)
    await storeResponse(ctx, ctx.db, lease, RESPONSE)
    await expect(acquireLease(ctx, { ...request, ...change })).rejects.toMatchObject(keyReused)
  })

  test('the same key of another caller is a different key', async () => {
    const request = requestOf()
    await storeResponse(ctx, ctx.db, await acquire(request), RESPONSE)
    expect((await acquire({ ...request, scope: 'agent:two' })).attempt).toBe(1)
  })

  test('a response is stored for 24 hours; then the key can be used again', async () => {
    const request = requestOf()
    await storeResponse(ctx, ctx.db, await acquire(request), RESPONSE)
    ctx.clock.advance(DAY)
    expect(await acquireLease(ctx, request)).toEqual({ replay: RESPONSE })
    ctx.clock.advance(1)
    await acquire({ ...request, fingerprint: fingerprintOf('another request') })
  })

  test('a response is rolled back with the transaction of its effect', async () => {
    const request = requestOf()
    const lease = await acquire(request)
    const failing = ctx.transact(async (tx) => {
      await storeResponse(ctx, tx, lease, RESPONSE)
      throw new Error('after all')
    })
    await expect(failing).rejects.toThrow('after all')
    await releaseLease(ctx, lease)
    expect((await acquire(request)).attempt).toBe(2)
  })

  test('a stored response is sealed, and opens only for its own key', async () => {
    const [mine, theirs] = [requestOf(), requestOf()]
    await storeResponse(ctx, ctx.db, await acquire(mine), { status: 201, body: { secret: 'market_key' } })
    await storeResponse(ctx, ctx.db, await acquire(theirs), RESPONSE)
    const find = ctx.db.selectFrom('requests').select('response_sealed').where('key', '=', mine.key)
    const { response_sealed } = await find.executeTakeFirstOrThrow()
    expect(response_sealed?.includes('market_key')).toBe(false)
    await ctx.db.updateTable('requests').set({ response_sealed }).where('key', '=', theirs.key).execute()
    await expect(acquireLease(ctx, theirs)).rejects.toThrow()
  })

  test('deleteOldRequests: deletes only rows older than a day', async () => {
    await ctx.db.deleteFrom('requests').execute()
    const [old, young] = [requestOf(), requestOf()]
    await storeResponse(ctx, ctx.db, await acquire(old), RESPONSE)
    ctx.clock.advance(2 * HOUR)
    await storeResponse(ctx, ctx.db, await acquire(young), RESPONSE)
    ctx.clock.advance(DAY - HOUR)
    expect(await deleteOldRequests(ctx)).toBe(1)
    expect(await acquireLease(ctx, young)).toEqual({ replay: RESPONSE })
    expect((await acquire(old)).attempt).toBe(1)
  })

  test('deleteOldRequests: deletes more rows than one batch', async () => {
    await ctx.db.deleteFrom('requests').execute()
    const at = ctx.clock.now()
    await sql`
      insert into requests (scope, key, operation, fingerprint, state, leased_until, created_at)
      select 'agent:many', n::text, 'registerAgent', sha256(n::text::bytea), 'running', ${at}, ${at}
      from generate_series(1, 2500) as n`.execute(ctx.db)
    ctx.clock.advance(2 * DAY)
    expect(await deleteOldRequests(ctx)).toBe(2_500)
  })
})
