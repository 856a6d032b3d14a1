import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

const AT_ONCE = 10
const AGENTS = 30
const EACH = 2
const ANSWER_MS = 2_000
const EXIT_WITHIN_MS = 20_000

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

test('told to stop, a worker writes down what it has sent, leaves nothing locked, and another goes on at once', async () => {
  for (let n = 0; n < AGENTS; n++) {
    const host = `e${n}.hooks.example`
    receiver.answers.set(host, (response) => void setTimeout(() => response.end(), ANSWER_MS))
    const { agent } = await world.agent(host)
    for (let event = 0; event < EACH; event++)
      await world.emit(agent.id, 'order.completed', { payout_failed: false }, `ord_${n}`)
  }
  const first = await world.worker({ JOB_CONCURRENCY: String(AT_ONCE) })
  await until('it has its hands full', () => receiver.calls.length === AT_ONCE, { withinMs: 10_000 })
  const toldAt = performance.now()
  first.kill('SIGTERM')
  expect(await first.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - toldAt).toBeLessThan(EXIT_WITHIN_MS)

  const sent = receiver.calls.map((call) => call.deliveryId)
  const rows = await world.db.selectFrom('deliveries').select(['id', 'status', 'attempts']).execute()
  const delivered = rows.filter((row) => row.status === 'delivered')
  expect(delivered.map((row) => row.id).sort()).toEqual(sent.toSorted())
  expect(delivered.filter((row) => row.attempts !== 1)).toEqual([])
  const locked = await sql`select 1 from graphile_worker.jobs where locked_by is not null`.execute(world.db)
  expect(locked.rows).toEqual([])
  const held = world.db.selectFrom('delivery_queues').select('agent_id').where('held_until', '>', new Date())
  expect(await held.execute()).toEqual([])
  expect(await world.db.selectFrom('worker_pools').selectAll().execute()).toEqual([])

  await world.worker()
  const readyAt = performance.now()
  await until('the rest is being sent', () => receiver.calls.length >= AGENTS + AT_ONCE / 2)
  expect(performance.now() - readyAt).toBeLessThan(3_000)
  await world.ended(AGENTS * EACH, 30_000)
  // Nobody was called twice for the same thing, and none of it was left out.
  expect(receiver.calls).toHaveLength(AGENTS * EACH)
  expect(new Set(receiver.calls.map((call) => call.deliveryId)).size).toBe(AGENTS * EACH)
})
