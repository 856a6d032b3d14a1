import { findEventsAfter } from '@market/core/events'
import { transact } from '@market/database/transact'
import { DAY, later, MINUTE } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { applyDueTransitions, buyerOf, findOrder, offerRenewals } from '@market/trade/orders'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerGeneration } from './answer-generation.ts'
import { failExpiredGenerations } from './fail-expired.ts'
import { generate } from './generate.ts'
import { findGenerations } from './store.ts'
import { openWorkspace as openIn } from './test-workspace.ts'

const CONCURRENT = 200
const QUOTA = 50
const MADE = { type: 'text', content: 'A blue square' } as const

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

const openWorkspace = (quotaLimit = QUOTA) => openIn(ctx, quotaLimit)

type Workspace = Awaited<ReturnType<typeof openWorkspace>>

const request = ({ buyer, id }: Workspace) => generate(ctx, buyer, { orderId: id, prompt: 'A blue square' })

const answer = ({ agent, id }: Workspace, generationId: string, failure?: string) =>
  answerGeneration(ctx, agent, {
    orderId: id,
    generationId,
    answer: failure === undefined ? { item: MADE } : { failure },
  })

const quotaOf = async (id: OrderId) => {
  const { status, quotaUsed, quotaPending } = await findOrder(ctx.db, id)
  return { status, used: quotaUsed, pending: quotaPending }
}

const rowsOf = (id: OrderId) => findGenerations(ctx.db, id, { limit: 1_000 })

test(`${CONCURRENT} requests at once on a quota of ${QUOTA}: exactly ${QUOTA} are accepted`, async () => {
  const workspace = await openWorkspace()
  const results = await Promise.allSettled(Array.from({ length: CONCURRENT }, () => request(workspace)))
  const rejected = results.flatMap((one) => (one.status === 'rejected' ? [one.reason.extra.code] : []))
  expect(rejected).toEqual(Array(CONCURRENT - QUOTA).fill('quota_used_up'))
  expect(await quotaOf(workspace.id)).toEqual({ status: 'in_progress', used: QUOTA, pending: QUOTA })
  expect(await rowsOf(workspace.id)).toHaveLength(QUOTA)
  const events = await findEventsAfter(ctx.db, { kind: 'agent', key: workspace.agentId }, 0n, 1_000)
  expect(events.filter(({ event }) => event === 'workspace.generate')).toHaveLength(QUOTA)
})

test('a connection that dies before the commit: unit, row and event exist together or not at all', async () => {
  const workspace = await openWorkspace()
  let kills = 0
  const dying: MarketContext = {
    ...ctx,
    transact: (work) =>
      transact(ctx.db, async (tx) => {
        const result = await work(tx)
        if (kills++ === 0) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx)
        return result
      }),
  }
  const { id, buyer, agentId } = workspace
  await generate(dying, buyer, { orderId: id, prompt: 'A blue square' }).catch(() => undefined)
  expect(kills).toBeGreaterThan(0)
  const events = await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, 0n, 1_000)
  const sent = events.filter(({ event }) => event === 'workspace.generate').length
  expect([(await quotaOf(id)).used, (await rowsOf(id)).length]).toEqual([sent, sent])
  await request(workspace)
  expect((await quotaOf(id)).used).toBe(sent + 1)
})

const generatedFor = async ({ buyer }: Workspace) =>
  (await findEventsAfter(ctx.db, { kind: 'buyer', key: buyerOf(buyer) }, 0n, 100)).map(({ event, data }) => [
    event,
    data,
  ])

describe('answers', () => {
  test('each one emits workspace.generated to the buyer, the last one before order.delivered', async () => {
    const workspace = await openWorkspace(1)
    const failed = (await request(workspace)).generation.id
    await answer(workspace, failed, 'The model is away')
    const completed = (await request(workspace)).generation.id
    await answer(workspace, completed)
    expect(await generatedFor(workspace)).toEqual([
      ['workspace.generated', { deliverable_id: failed, status: 'failed' }],
      ['workspace.generated', { deliverable_id: completed, status: 'completed' }],
      ['order.delivered', { review_ends_at: expect.any(String) }],
    ])
  })

  test('one that did not come in time emits workspace.generated once', async () => {
    const workspace = await openWorkspace()
    const { generation } = await request(workspace)
    ctx.clock.set(later(generation.deadline, 1))
    await Promise.all([failExpiredGenerations(ctx), failExpiredGenerations(ctx)])
    expect(await generatedFor(workspace)).toEqual([
      ['workspace.generated', { deliverable_id: generation.id, status: 'failed' }],
    ])
  })

  test('a failed one returns its unit, which can be used again', async () => {
    const workspace = await openWorkspace(1)
    const { generation } = await request(workspace)
    await expect(request(workspace)).rejects.toMatchObject({ extra: { code: 'quota_used_up' } })
    await answer(workspace, generation.id, 'The model is away')
    expect(await quotaOf(workspace.id)).toEqual({ status: 'in_progress', used: 0, pending: 0 })
    await request(workspace)
  })

  test('the last completed one ends the workspace', async () => {
    const workspace = await openWorkspace(2)
    const [one, two] = [await request(workspace), await request(workspace)]
    await answer(workspace, one.generation.id)
    expect((await quotaOf(workspace.id)).status).toBe('in_progress')
    await answer(workspace, two.generation.id)
    expect(await quotaOf(workspace.id)).toEqual({ status: 'delivered', used: 2, pending: 0 })
  })

  test('each request is answered once, also by 20 answers at once', async () => {
    const workspace = await openWorkspace(3)
    const { generation } = await request(workspace)
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => answer(workspace, generation.id, n % 2 === 0 ? 'No' : undefined)),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const [row] = await rowsOf(workspace.id)
    const used = row?.status === 'completed' ? 1 : 0
    expect(await quotaOf(workspace.id)).toEqual({ status: 'in_progress', used, pending: 0 })
  })

  test('a request of another order is not found', async () => {
    const [one, other] = [await openWorkspace(), await openWorkspace()]
    const { generation } = await request(one)
    await expect(answer(other, generation.id)).rejects.toMatchObject({
      extra: { code: 'deliverable_not_found' },
    })
  })
})

describe('silence', () => {
  test('not answered in time: it fails and its unit is returned, once', async () => {
    const workspace = await openWorkspace()
    const { generation } = await request(workspace)
    ctx.clock.advance(10 * MINUTE - 1)
    await failExpiredGenerations(ctx)
    expect((await quotaOf(workspace.id)).pending).toBe(1)
    ctx.clock.advance(1)
    await Promise.all([failExpiredGenerations(ctx), failExpiredGenerations(ctx)])
    expect(await quotaOf(workspace.id)).toEqual({ status: 'in_progress', used: 0, pending: 0 })
    expect(await rowsOf(workspace.id)).toMatchObject([{ status: 'failed' }])
    await expect(answer(workspace, generation.id)).rejects.toMatchObject({
      extra: { code: 'generation_ended' },
    })
  })

  test('after the deadline the answer is rejected, also before the sweep', async () => {
    const workspace = await openWorkspace()
    const { generation } = await request(workspace)
    ctx.clock.advance(10 * MINUTE)
    await expect(answer(workspace, generation.id)).rejects.toMatchObject({
      extra: { code: 'generation_ended' },
    })
  })
})

describe('the end of the period', () => {
  test('with one pending: it can still be answered, and the order is delivered at its deadline', async () => {
    const workspace = await openWorkspace()
    const [early, late] = [await request(workspace), await request(workspace)]
    ctx.clock.set(later(workspace.endsAt, -MINUTE))
    await answer(workspace, early.generation.id).catch(() => undefined)
    const last = await request(workspace)
    ctx.clock.set(workspace.endsAt)
    await applyDueTransitions(ctx)
    await expect(request(workspace)).rejects.toMatchObject({ extra: { code: 'workspace_ended' } })
    expect((await quotaOf(workspace.id)).status).toBe('in_progress')
    await answer(workspace, last.generation.id)
    ctx.clock.set(later(workspace.endsAt, 9 * MINUTE))
    await applyDueTransitions(ctx)
    await failExpiredGenerations(ctx)
    expect(await quotaOf(workspace.id)).toEqual({ status: 'delivered', used: 1, pending: 0 })
    expect(late.generation.status).toBe('pending')
  })

  test('a unit is not returned twice when the order ends before the sweep', async () => {
    const workspace = await openWorkspace()
    const { generation } = await request(workspace)
    await answer(workspace, generation.id)
    ctx.clock.set(later(workspace.endsAt, -MINUTE))
    await request(workspace)
    ctx.clock.set(later(workspace.endsAt, DAY))
    await applyDueTransitions(ctx)
    expect(await quotaOf(workspace.id)).toEqual({ status: 'delivered', used: 1, pending: 0 })
    await failExpiredGenerations(ctx)
    expect(await quotaOf(workspace.id)).toEqual({ status: 'delivered', used: 1, pending: 0 })
  })
})

test('offerRenewals: tells the buyer once, 3 days before the end', async () => {
  const { endsAt } = await openWorkspace()
  const offers = async () => {
    await Promise.all([offerRenewals(ctx), offerRenewals(ctx)])
    const rows = ctx.db.selectFrom('notifications').select('kind').where('kind', '=', 'order.renewal_offered')
    return (await rows.execute()).length
  }
  ctx.clock.set(later(endsAt, -3 * DAY - 1))
  expect(await offers()).toBe(0)
  ctx.clock.set(later(endsAt, -3 * DAY))
  expect(await offers()).toBe(1)
  expect(await offers()).toBe(1)
})
