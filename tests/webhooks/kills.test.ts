import { setTimeout as wait } from 'node:timers/promises'
import type { AgentId } from '@market/kernel/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emitNumbered, expectNoneLost } from '../support/webhook-losses.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

const KILLS = Number(process.env['KILLS'] ?? 5)
const DELIVERIES = Number(process.env['KILLS_DELIVERIES'] ?? 600)
const AGENTS = 25
const WITHIN_MS = 60_000

let receiver: WebhookReceiver
let world: WebhookWorld
const agentIds: AgentId[] = []
beforeAll(async () => {
  receiver = await startReceiver()
  world = await startWorld({ receiver })
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

test(
  `no delivery is lost when workers are killed ${KILLS} times during ${DELIVERIES} deliveries`,
  async () => {
    const workers = [await world.worker(), await world.worker()]
    for (let kill = 0; kill < KILLS; kill++) {
      const emitted = emitNumbered(
        world,
        agentIds,
        Math.round((kill * DELIVERIES) / KILLS),
        Math.round(((kill + 1) * DELIVERIES) / KILLS),
      )
      await wait(Math.random() * 1_000)
      const victim = workers[kill % 2]
      victim?.kill('SIGKILL')
      expect(await victim?.exited).toEqual({ code: null, signal: 'SIGKILL' })
      workers[kill % 2] = await world.worker()
      await emitted
    }
    const startedAt = performance.now()
    await world.ended(DELIVERIES, WITHIN_MS)
    const durationMs = Math.round(performance.now() - startedAt)
    const repeated = await expectNoneLost(world, receiver, DELIVERIES)
    process.stdout.write(
      `all ended ${durationMs} ms after the last worker was up; ${repeated} requests were repeated\n`,
    )
  },
  180_000 + KILLS * 10_000,
)
