import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAtLeast, expectWithin } from '../support/measured.ts'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

const CONCURRENCY = 10
const AGENTS = 30
const EVENTS_PER_AGENT = 2
const RESPONSE_MS = 2_000
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

test('SIGTERM: a worker records its attempts, releases all locks, and another worker continues at once', async () => {
  for (let n = 0; n < AGENTS; n++) {
    const host = `e${n}.hooks.example`
    receiver.answers.set(host, (response) => void setTimeout(() => response.end(), RESPONSE_MS))
    const { agent } = await world.agent(host)
    for (let event = 0; event < EVENTS_PER_AGENT; event++)
      await world.emit(agent.id, 'order.completed', { payout_failed: false }, `ord_${n}`)
  }
  const first = await world.worker({ JOB_CONCURRENCY: String(CONCURRENCY) })
  await until('all job slots are busy', () => receiver.calls.length >= CONCURRENCY, { withinMs: 120_000 })
  const signalledAt = performance.now()
  first.kill('SIGTERM')
  expect(await first.exited).toEqual({ code: 0, signal: null })
  expectWithin(performance.now() - signalledAt, EXIT_WITHIN_MS)

  await expectAttemptsRecorded()
  const locked = await sql`select 1 from graphile_worker.jobs where locked_by is not null`.execute(world.db)
  expect(locked.rows).toEqual([])
  const leased = world.db
    .selectFrom('delivery_queues')
    .select('agent_id')
    .where('held_until', '>', new Date())
  expect(await leased.execute()).toEqual([])
  expect(await world.db.selectFrom('worker_pools').selectAll().execute()).toEqual([])

  await world.worker()
  const readyAt = performance.now()
  await until('the rest is being sent', () => receiver.calls.length >= AGENTS + CONCURRENCY / 2, {
    withinMs: 120_000,
  })
  expectWithin(performance.now() - readyAt, 3_000)
  await world.ended(AGENTS * EVENTS_PER_AGENT, 120_000)
  await expectAttemptsRecorded()
  expect(new Set(receiver.calls.map((call) => call.deliveryId)).size).toBe(AGENTS * EVENTS_PER_AGENT)
})

/**
 * Every request that arrived is a recorded attempt: none was lost, and none was sent again without being counted. On a
 * busy machine, an attempt may time out before its request arrives.
 */
async function expectAttemptsRecorded(): Promise<void> {
  const rows = await world.db.selectFrom('deliveries').select(['id', 'attempts']).execute()
  const recorded = new Map(rows.map(({ id, attempts }) => [id as string, attempts]))
  for (const [id, calls] of Map.groupBy(receiver.calls, ({ deliveryId }) => deliveryId)) {
    expect(recorded.get(id)).toBeGreaterThanOrEqual(calls.length)
    expectAtLeast(calls.length, recorded.get(id) ?? 0)
  }
}
