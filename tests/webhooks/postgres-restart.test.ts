import type { AgentId } from '@market/kernel/ids'
import { afterAll, beforeAll, test } from 'vitest'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { until } from '../support/until.ts'
import { emitNumbered, expectNoneLost } from '../support/webhook-losses.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

const DELIVERIES = Number(process.env['RESTART_DELIVERIES'] ?? 600)
const AGENTS = 25
const WITHIN_MS = 60_000

let receiver: WebhookReceiver
let database: Awaited<ReturnType<typeof startOwnPostgres>>
let world: WebhookWorld
const agentIds: AgentId[] = []
beforeAll(async () => {
  receiver = await startReceiver()
  database = await startOwnPostgres()
  world = await startWorld({ receiver, database })
  for (let n = 0; n < AGENTS; n++) {
    const host = `e${n}.hooks.example`
    receiver.answers.set(host, (response) => void setTimeout(() => response.end(), Math.random() * 100))
    agentIds.push((await world.agent(host)).agent.id)
  }
})
afterAll(async () => {
  await world.stop()
  await receiver.stop()
})

test('no delivery is lost when Postgres crashes in the middle and comes back', async () => {
  await emitNumbered(world, agentIds, 0, DELIVERIES)
  // Whoever runs the workers starts one that gave up anew.
  let isOver = false
  const keep = async (): Promise<void> => {
    while (!isOver) {
      const worker = await world.worker().catch(() => undefined)
      await worker?.exited
    }
  }
  const kept = [keep(), keep()]
  await until('a third has come', () => receiver.calls.length > DELIVERIES / 3, { withinMs: 30_000 })
  await database.crashAndRestart()
  const began = performance.now()
  await world.ended(DELIVERIES, WITHIN_MS)
  const took = Math.round(performance.now() - began)
  const twice = await expectNoneLost(world, receiver, DELIVERIES)
  process.stdout.write(`all ended ${took} ms after Postgres was back; ${twice} calls came again\n`)
  isOver = true
  await world.stopWorkers()
  await Promise.all(kept)
}, 180_000)
