import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { hang, ok, startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

/** All of them must be running at once, before the first request times out. */
const JOBS = Number(process.env['RECOVERY_JOBS'] ?? 25)
const WITHIN_MS = 60_000

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

test(`when a worker with ${JOBS} running jobs is killed, another worker runs all of them`, async () => {
  const hosts = Array.from({ length: JOBS }, (_, n) => `e${n}.hooks.example`)
  for (const host of hosts) {
    receiver.answers.set(host, hang)
    const { agent } = await world.agent(host)
    await world.emit(agent.id, 'order.completed', { payout_failed: false }, `ord_${host}`)
  }
  const first = await world.worker()
  await until('every job waits for its endpoint to respond', () => receiver.calls.length >= JOBS, {
    withinMs: WITHIN_MS,
  })
  first.kill('SIGKILL')
  await first.exited
  const killedAt = performance.now()
  for (const host of hosts) receiver.answers.set(host, ok)
  await world.worker()
  // Waits for the leases of the killed worker, 15 s of real time: this is how long a recovery takes.
  await world.ended(JOBS, WITHIN_MS)
  process.stdout.write(`all ended ${Math.round(performance.now() - killedAt)} ms after the kill\n`)
  const deliveries = await world.db.selectFrom('deliveries').select(['id', 'status', 'attempts']).execute()
  expect(deliveries).toHaveLength(JOBS)
  let unrecorded = 0
  for (const host of hosts) {
    const [id, ...others] = new Set(receiver.callsTo(host).map((call) => call.deliveryId))
    expect(others).toEqual([])
    const delivery = deliveries.find((one) => one.id === id)
    expect(delivery?.status).toBe('delivered')
    // Only the call that the killed worker had not recorded is missing. On a slow machine some calls timed out before.
    const missing = receiver.callsTo(host).length - (delivery?.attempts ?? 0)
    expect([0, 1]).toContain(missing)
    unrecorded += missing
  }
  expect(unrecorded).toBeGreaterThan(0)
})

test('a job that failed many times is retried within a minute, not after hours', async () => {
  const { agent } = await world.agent('late.hooks.example')
  await world.stopWorkers()
  await world.emit(agent.id, 'order.completed', { payout_failed: false }, 'ord_late')
  await sql`
    update graphile_worker._private_jobs
    set attempts = 9, last_error = 'the database was unavailable', run_at = now() + interval '2 hours'`.execute(
    world.db,
  )
  await world.worker()
  await until('the webhook arrived', () => receiver.callsTo('late.hooks.example').length === 1, {
    withinMs: 60_000,
  })
})
