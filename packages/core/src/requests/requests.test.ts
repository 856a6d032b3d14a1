import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { DAY, HOUR, SECOND } from '@market/kernel/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finishRequest } from './finish-request.ts'
import { forgetOldRequests } from './forget-old-requests.ts'
import { releaseRequest } from './release-request.ts'
import { LEASE_MS, type Lease, type RequestKey } from './request.ts'
import { takeRequest } from './take-request.ts'

const fingerprintOf = (text: string) => createHash('sha256').update(text).digest()

const requestOf = (said: Partial<RequestKey> = {}): RequestKey => ({
  scope: 'agent:one',
  key: randomUUID(),
  operation: 'registerAgent',
  fingerprint: fingerprintOf('the request'),
  ...said,
})

const ANSWER = { status: 201, body: { data: { id: 1, text: 'ä😀' } } }

describe('requests that may be repeated', () => {
  let ctx: MarketContext
  let database: Awaited<ReturnType<typeof testDatabase>>
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.stop())
  beforeEach(() => {
    ctx = marketContext({ db: database.db })
  })

  const take = async (request: RequestKey): Promise<Lease> => {
    const taken = await takeRequest(ctx, request)
    if (!('lease' in taken)) throw new Error('a kept answer came instead of the lease')
    return taken.lease
  }

  test('the first gets the lease, and after it finished everybody gets its answer', async () => {
    const request = requestOf()
    const lease = await take(request)
    await finishRequest(ctx, ctx.db, lease, ANSWER)
    expect(await takeRequest(ctx, request)).toEqual({ replay: ANSWER })
    expect(await takeRequest(ctx, request)).toEqual({ replay: ANSWER })
  })

  test('of many at once one gets the lease, and all others its answer', async () => {
    const request = requestOf()
    let leases = 0
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const taken = await takeRequest(ctx, request)
        if ('replay' in taken) return taken.replay
        leases += 1
        await finishRequest(ctx, ctx.db, taken.lease, ANSWER)
        return ANSWER
      }),
    )
    expect(leases).toBe(1)
    expect(answers).toEqual(Array(8).fill(ANSWER))
  })

  test('a twin that comes while the first runs waits and gets the answer', async () => {
    const request = requestOf()
    const lease = await take(request)
    const looked = new EventTarget()
    const now = () => {
      looked.dispatchEvent(new Event('look'))
      return ctx.clock.now()
    }
    const secondLook = once(looked, 'look').then(() => once(looked, 'look'))
    const twin = takeRequest({ ...ctx, clock: { now } }, request)
    await secondLook
    await finishRequest(ctx, ctx.db, lease, ANSWER)
    expect(await twin).toEqual({ replay: ANSWER })
  })

  test('a twin of one that does not end is told to come back', async () => {
    const request = requestOf()
    await take(request)
    await expect(takeRequest(ctx, request)).rejects.toMatchObject({
      kind: 'conflict',
      extra: { code: 'request_in_progress', retryAfterSeconds: 1 },
    })
  })

  test('a released key is free at once, for any request', async () => {
    const request = requestOf()
    await releaseRequest(ctx, await take(request))
    const other = { ...request, fingerprint: fingerprintOf('another request') }
    expect((await take(other)).attempt).toBe(2)
  })

  test('an answer that was kept is not let go by a late release', async () => {
    const request = requestOf()
    const lease = await take(request)
    await finishRequest(ctx, ctx.db, lease, ANSWER)
    await releaseRequest(ctx, lease)
    expect(await takeRequest(ctx, request)).toEqual({ replay: ANSWER })
  })

  test('a lease that ran out is taken over, and the one who slept can no longer finish', async () => {
    const request = requestOf()
    const slept = await take(request)
    ctx.clock.advance(LEASE_MS + 1)
    const successor = await take(request)
    await expect(finishRequest(ctx, ctx.db, slept, { status: 200, body: 'late' })).rejects.toMatchObject({
      extra: { code: 'request_taken_over' },
    })
    await finishRequest(ctx, ctx.db, successor, ANSWER)
    await expect(finishRequest(ctx, ctx.db, slept, { status: 200, body: 'late' })).rejects.toMatchObject({
      extra: { code: 'request_taken_over' },
    })
    expect(await takeRequest(ctx, request)).toEqual({ replay: ANSWER })
  })

  test('one who slept finds the fence even after the key was released and swept', async () => {
    const request = requestOf()
    const slept = await take(request)
    ctx.clock.advance(LEASE_MS + 1)
    await releaseRequest(ctx, await take(request))
    await forgetOldRequests(ctx)
    const third = await take(request)
    expect(third.attempt).toBe(3)
    await expect(finishRequest(ctx, ctx.db, slept, ANSWER)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('a lease holds to its last millisecond', async () => {
    const request = requestOf()
    await take(request)
    ctx.clock.advance(LEASE_MS)
    await expect(takeRequest(ctx, request)).rejects.toMatchObject({ extra: { code: 'request_in_progress' } })
  })

  test.each([
    ['another fingerprint', { fingerprint: fingerprintOf('another request') }],
    ['another operation', { operation: 'linkAgent' }],
  ])('the same key with %s is rejected, running, run out or done', async (_what, change) => {
    const request = requestOf()
    const reused = { kind: 'unprocessable', extra: { code: 'idempotency_key_reused' } }
    const lease = await take(request)
    await expect(takeRequest(ctx, { ...request, ...change })).rejects.toMatchObject(reused)
    ctx.clock.advance(LEASE_MS + SECOND)
    await expect(takeRequest(ctx, { ...request, ...change })).rejects.toMatchObject(reused)
    await finishRequest(ctx, ctx.db, lease, ANSWER)
    await expect(takeRequest(ctx, { ...request, ...change })).rejects.toMatchObject(reused)
  })

  test('the same key of somebody else is another key', async () => {
    const request = requestOf()
    await finishRequest(ctx, ctx.db, await take(request), ANSWER)
    expect((await take({ ...request, scope: 'agent:two' })).attempt).toBe(1)
  })

  test('an answer is kept for 24 hours, and then the key is free', async () => {
    const request = requestOf()
    await finishRequest(ctx, ctx.db, await take(request), ANSWER)
    ctx.clock.advance(DAY)
    expect(await takeRequest(ctx, request)).toEqual({ replay: ANSWER })
    ctx.clock.advance(1)
    await take({ ...request, fingerprint: fingerprintOf('another request') })
  })

  test('an answer stands or falls with the effect it belongs to', async () => {
    const request = requestOf()
    const lease = await take(request)
    const failing = ctx.transact(async (tx) => {
      await finishRequest(ctx, tx, lease, ANSWER)
      throw new Error('after all')
    })
    await expect(failing).rejects.toThrow('after all')
    await releaseRequest(ctx, lease)
    expect((await take(request)).attempt).toBe(2)
  })

  test('a kept answer is sealed to its key: moved to another it does not open', async () => {
    const [mine, theirs] = [requestOf(), requestOf()]
    await finishRequest(ctx, ctx.db, await take(mine), { status: 201, body: { secret: 'market_key' } })
    await finishRequest(ctx, ctx.db, await take(theirs), ANSWER)
    const find = ctx.db.selectFrom('requests').select('response_sealed').where('key', '=', mine.key)
    const { response_sealed } = await find.executeTakeFirstOrThrow()
    expect(response_sealed?.includes('market_key')).toBe(false)
    await ctx.db.updateTable('requests').set({ response_sealed }).where('key', '=', theirs.key).execute()
    await expect(takeRequest(ctx, theirs)).rejects.toThrow()
  })

  test('only what is older than a day is forgotten', async () => {
    await ctx.db.deleteFrom('requests').execute()
    const [old, young] = [requestOf(), requestOf()]
    await finishRequest(ctx, ctx.db, await take(old), ANSWER)
    ctx.clock.advance(2 * HOUR)
    await finishRequest(ctx, ctx.db, await take(young), ANSWER)
    ctx.clock.advance(DAY - HOUR)
    expect(await forgetOldRequests(ctx)).toBe(1)
    expect(await takeRequest(ctx, young)).toEqual({ replay: ANSWER })
    expect((await take(old)).attempt).toBe(1)
  })

  test('one sweep forgets everything that is old, however much it is', async () => {
    await ctx.db.deleteFrom('requests').execute()
    const at = ctx.clock.now()
    await sql`
      insert into requests (scope, key, operation, fingerprint, state, leased_until, created_at)
      select 'agent:many', n::text, 'registerAgent', sha256(n::text::bytea), 'running', ${at}, ${at}
      from generate_series(1, 2500) as n`.execute(ctx.db)
    ctx.clock.advance(2 * DAY)
    expect(await forgetOldRequests(ctx)).toBe(2_500)
  })
})
