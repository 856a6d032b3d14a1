import { setTimeout as wait } from 'node:timers/promises'
import { DAY, later, SECOND } from '@market/kernel/clock'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { findOrder } from '@market/trade/orders'
import { answerGeneration, generate } from '@market/work/workspaces'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

const KILLS = 3
const REQUESTS = 24
const QUOTA = 40
const HOST = 'maker.hooks.example'
const MADE = { type: 'text', content: 'A blue square' } as const

let receiver: WebhookReceiver
let world: WebhookWorld
beforeAll(async () => {
  receiver = await startReceiver()
  world = await startWorld({ receiver })
})
afterAll(async () => {
  await world.stop()
  await receiver.stop()
})

test(`no unit of a quota is lost when the worker is killed ${KILLS} times between request and event`, async () => {
  const ctx = { ...world.ctx, generationTimeoutMs: 5 * SECOND }
  const { agent } = await world.agent(HOST)
  const listing = await makeListing(ctx, agent.id, { priceType: 'weekly', quotaLimit: QUOTA })
  const buyer = walletActor()
  const { id: orderId } = await makeOrder(ctx, listing, { buyer, status: 'in_progress' })
  const endsAt = later(ctx.clock.now(), 7 * DAY)
  await world.db
    .updateTable('orders')
    .set({ deliver_by: endsAt, workspace_ends_at: endsAt, due_at: endsAt })
    .where('id', '=', orderId)
    .execute()

  // The agent answers every second request and is silent about the others.
  let received = 0
  receiver.answers.set(HOST, (response, { rawBody }) => {
    response.end()
    const { event, data } = JSON.parse(rawBody.toString())
    if (event !== 'workspace.generate' || received++ % 2 === 1) return
    const answered = { orderId, generationId: data.deliverable_id, answer: { item: MADE } }
    // A repeated event is of a generation that has ended.
    answerGeneration(ctx, agentActor(agent.id), answered).catch(() => undefined)
  })

  for (let kill = 0; kill < KILLS; kill++) {
    const worker = await world.worker()
    for (let n = 0; n < REQUESTS / KILLS; n++) await generate(ctx, buyer, { orderId, prompt: `Square ${n}` })
    await wait(Math.random() * 300)
    worker.kill('SIGKILL')
    expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' })
  }
  await world.worker()

  const rowsOf = () =>
    world.db.selectFrom('workspace_deliverables').select('status').where('order_id', '=', orderId).execute()
  await until(
    'every request has ended',
    async () => (await rowsOf()).every(({ status }) => status !== 'pending'),
    { withinMs: 120_000, everyMs: 200 },
  )
  const counts = Map.groupBy(await rowsOf(), ({ status }) => status)
  const completed = counts.get('completed')?.length ?? 0
  const failed = counts.get('failed')?.length ?? 0
  expect(completed + failed).toBe(REQUESTS)
  expect(failed).toBeGreaterThan(0)
  const { quotaUsed, quotaPending } = await findOrder(world.db, orderId)
  expect({ quotaUsed, quotaPending }).toEqual({ quotaUsed: completed, quotaPending: 0 })
}, 300_000)
