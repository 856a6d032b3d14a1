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

test('no delivery is lost when Postgres is killed and restarted', async () => {
  await emitNumbered(world, agentIds, 0, DELIVERIES)
  // Like a process manager, start a new worker when one exits.
  let isDone = false
  const supervise = async (): Promise<void> => {
    while (!isDone) {
      const worker = await world.worker().catch(() => undefined)
      await worker?.exited
    }
  }
  const supervisors = [supervise(), supervise()]
  await until('a third of the requests arrived', () => receiver.calls.length > DELIVERIES / 3, {
    withinMs: 30_000,
  })
  await database.crashAndRestart()
  const startedAt = performance.now()
  await world.ended(DELIVERIES, WITHIN_MS)
  const durationMs = Math.round(performance.now() - startedAt)
  const repeated = await expectNoneLost(world, receiver, DELIVERIES)
  process.stdout.write(
    `all ended ${durationMs} ms after Postgres was restarted; ${repeated} requests were repeated\n`,
  )
  isDone = true
  await world.stopWorkers()
  await Promise.all(supervisors)
})
