import { DAY, HOUR, later } from '@market/kernel/clock'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { findOrder } from '@market/trade/orders'
import { answerGeneration, generate } from '@market/work/workspaces'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../support/payout-random.ts'
import type { ServerProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

/** When a worker is killed, each once: what the endpoint and the database show then about the event of one request. */
const MOMENTS = {
  received: 'the event arrived and has no response',
  answered: 'the generation is completed and its event has no response',
  recorded: 'the event is stored as delivered',
} as const
type Moment = keyof typeof MOMENTS

const SEED = Number(process.env['SEED'] ?? 1)
/** Before each kill. The agent answers the even ones and is silent about the others. */
const REQUESTS = 8
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

const isEven = (request: number) => request % 2 === 0

test(`no unit of a quota is lost when the worker is killed at each moment between request and end, seed ${SEED}`, async () => {
  const random = seededRandom(SEED)
  const ctx = { ...world.ctx, generationTimeoutMs: HOUR }
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
  const rows = world.db.selectFrom('workspace_deliverables').select('status').where('order_id', '=', orderId)
  const countOf = async (status: string) => (await rows.where('status', '=', status).execute()).length
  const isDelivered = async (id: string) =>
    (await world.db.selectFrom('deliveries').select('status').where('id', '=', id).executeTakeFirst())
      ?.status === 'delivered'

  let next: { readonly moment: Moment; readonly request: number; readonly reached: () => void } | undefined
  receiver.answers.set(HOST, async (response, { rawBody, deliveryId }) => {
    const { event, data } = JSON.parse(rawBody.toString())
    if (event !== 'workspace.generate') return void response.end()
    const request = Number(data.prompt)
    const at = next?.request === request ? next.moment : undefined
    if (at === 'received') return next?.reached()
    const answered = { orderId, generationId: data.deliverable_id, answer: { item: MADE } }
    // A repeated event is of a generation that has ended.
    if (isEven(request)) await answerGeneration(ctx, agentActor(agent.id), answered).catch(() => undefined)
    if (at === 'answered') return next?.reached()
    response.end()
    if (at !== 'recorded') return
    await until(MOMENTS.recorded, () => isDelivered(deliveryId))
    next?.reached()
  })
  const kill = async (worker: ServerProcess) => {
    worker.kill('SIGKILL')
    expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' })
  }

  let requested = 0
  for (const moment of Object.keys(MOMENTS) as Moment[]) {
    const { promise, resolve: reached } = Promise.withResolvers<void>()
    next = { moment, request: requested + 2 * Math.floor((random() * REQUESTS) / 2), reached }
    const worker = await world.worker()
    for (const end = requested + REQUESTS; requested < end; requested++)
      await generate(ctx, buyer, { orderId, prompt: String(requested) })
    await promise
    await kill(worker)
  }
  next = undefined
  const worker = await world.worker()
  const completed = requested / 2
  await until('every second request is completed', async () => (await countOf('completed')) === completed)

  await world.db
    .updateTable('workspace_deliverables')
    .set({ deadline: ctx.clock.now() })
    .where('order_id', '=', orderId)
    .where('status', '=', 'pending')
    .execute()
  await until('a request has failed', async () => (await countOf('failed')) > 0, { everyMs: 1 })
  await kill(worker)
  await world.worker()
  await until('every request has ended', async () => (await countOf('pending')) === 0)

  expect([await countOf('completed'), await countOf('failed')]).toEqual([completed, requested - completed])
  const { quotaUsed, quotaPending } = await findOrder(world.db, orderId)
  expect({ quotaUsed, quotaPending }).toEqual({ quotaUsed: completed, quotaPending: 0 })
})
