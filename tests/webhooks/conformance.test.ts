import { isDeepStrictEqual } from 'node:util'
import { EVENTS, NEVER_SENT } from '@market/contract/events'
import type { EventDataOf, EventName } from '@market/core/events'
import type { Registered } from '@market/identity/agents'
import { makeEvmWallet, makeProfile } from '@market/testing/makers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAtLeast, expectWithin, MEASURES_TIME, testTimeout } from '../support/measured.ts'
import { allowedBy, type Schema } from '../support/schema-arbitraries.ts'
import { until } from '../support/until.ts'
import {
  type Answer,
  type Call,
  ok,
  startReceiver,
  status,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'
import { FAILURES, SUCCESSES } from '../support/webhook-responses.ts'
import { expectHeaders, verifyCall } from '../support/webhook-verify.ts'
import { type EndpointOwner, startWorld, type WebhookWorld } from '../support/webhook-world.ts'

let receiver: WebhookReceiver
let world: WebhookWorld
beforeAll(async () => {
  receiver = await startReceiver()
  world = await startWorld({ receiver })
  await world.worker()
})
afterAll(async () => {
  await world.stop()
  await receiver.stop()
})

let hosts = 0
const newHost = () => `e${hosts++}.hooks.example`

const endedOf = async ({ agent }: Registered, withinMs = testTimeout(40_000)) => {
  const deliveries = () => world.deliveriesOf(agent.id)
  await until(
    `every delivery to ${agent.name} has ended`,
    async () => {
      const found = await deliveries()
      return found.length > 0 && found.every((delivery) => delivery.status !== 'pending')
    },
    { withinMs, everyMs: 50 },
  )
  return deliveries()
}

describe('events', () => {
  test.each(Object.keys(EVENTS) as EventName[])('%s is sent signed, with exactly its data', async (event) => {
    const schema = EVENTS[event].toJSONSchema({ io: 'output' }) as Schema
    const samples = fc.sample(allowedBy(schema), { numRuns: 4, seed: 7 }) as EventDataOf[typeof event][]
    const host = newHost()
    const registered = await world.agent(host)
    const orderId = event.startsWith('order.') ? 'ord_conformance' : ''
    for (const data of samples) await world.emit(registered.agent.id, event, data, orderId)
    const isFirst = (call: Call, n: number, all: readonly Call[]) =>
      all.findIndex(({ deliveryId }) => deliveryId === call.deliveryId) === n
    const arrived = () => receiver.callsTo(host).filter(isFirst)
    await until('all events arrived', () => arrived().length >= samples.length, {
      withinMs: testTimeout(20_000),
    })

    const calls = arrived()
    const bodies = calls.map((call) => {
      expectHeaders(call, registered, event)
      return verifyCall(call, registered.webhookSecret ?? '')
    })
    const sent = samples.map((data) => JSON.parse(JSON.stringify({ event, order_id: orderId, data })))
    // Events of one order arrive in order; events without an order in any order.
    const unmatched = sent.filter((body, n) =>
      orderId === ''
        ? !bodies.some((received) => isDeepStrictEqual(received, body))
        : !isDeepStrictEqual(bodies[n], body),
    )
    expect(unmatched).toEqual([])
    expect(new Set(calls.map((call) => call.deliveryId)).size).toBe(samples.length)
    for (const { data } of bodies) expect(EVENTS[event].safeParse(data).success).toBe(true)
    for (const delivery of await endedOf(registered)) {
      expect(delivery).toMatchObject({ status: 'delivered', response_status: 200, failure: null })
      expectAttempts(delivery, 1)
    }
  })

  test('NEVER_SENT names are not in EVENTS and were not sent', () => {
    expect(NEVER_SENT.filter((name) => name in EVENTS)).toEqual([])
    const names = receiver.calls.map((call) => call.headers['x-market-event'])
    expect(names.filter((name) => (NEVER_SENT as readonly unknown[]).includes(name))).toEqual([])
  })

  test('the body is compact JSON with fields in fixed order', async () => {
    const host = newHost()
    const registered = await world.agent(host)
    await world.emit(registered.agent.id, 'order.disputed', { reason: 'late' }, 'ord_1')
    await endedOf(registered)
    const [call] = receiver.callsTo(host)
    expect(call?.rawBody.toString()).toBe(
      '{"event":"order.disputed","order_id":"ord_1","data":{"reason":"late"}}',
    )
  })
})

/**
 * Checks the requests of three failed attempts and the delays between them. The five seconds of an attempt start before
 * the connection is made: on a busy machine they may end before the request arrives.
 */
function expectThreeAttempts(
  calls: readonly Call[],
  deliveryId: string | undefined,
  isTimeout: boolean,
): void {
  expect(calls.length).toBeGreaterThanOrEqual(1)
  expect(calls.length).toBeLessThanOrEqual(3)
  expectAtLeast(calls.length, 3)
  expect(calls.map((call) => [call.deliveryId, call.path])).toEqual(calls.map(() => [deliveryId, '/in']))
  expect(new Set(calls.map((call) => call.rawBody.toString())).size).toBe(1)
  const delays = calls.length === 3 ? [1_000, 4_000] : [1_000]
  for (const [n, delay] of delays.slice(0, calls.length - 1).entries()) {
    const gap = Number(calls[n + 1]?.arrivedAt) - Number(calls[n]?.arrivedAt)
    expect(gap).toBeGreaterThanOrEqual(delay)
    expectAtLeast(gap, isTimeout ? delay + 4_500 : delay)
    expectWithin(gap, delay + (isTimeout ? 5_000 : 0) + 3_000)
  }
}

/** The attempts of a delivery; without a measured run, some may have timed out before their request arrived. */
function expectAttempts(delivery: { attempts: number } | undefined, least: number): void {
  expect(delivery?.attempts).toBeGreaterThanOrEqual(least)
  expectWithin(delivery?.attempts ?? Number.NaN, least + 1)
}

/** Creates an agent whose endpoint responds like this, and emits one event. */
async function begin(answer: Answer) {
  const host = newHost()
  receiver.answers.set(host, answer)
  const registered = await world.agent(host)
  await world.emit(registered.agent.id, 'order.completed', { payout_failed: false }, 'ord_1')
  return { host, registered }
}

describe('attempts', () => {
  // All start at once, because the slowest takes twenty seconds; each agent has its own delivery queue.
  const started = new Map<Answer, Awaited<ReturnType<typeof begin>>>()
  beforeAll(async () => {
    const answers = [...SUCCESSES.map(([, answer]) => answer), ...FAILURES.map(([, , answer]) => answer)]
    await Promise.all(answers.map(async (answer) => started.set(answer, await begin(answer))))
  })
  const startedOf = (answer: Answer) => started.get(answer) ?? expect.unreachable('started above')

  test.each(SUCCESSES)('%s: delivered at the first attempt', async (_what, answer) => {
    const { host, registered } = startedOf(answer)
    const [delivery] = await endedOf(registered)
    expect(delivery?.status).toBe('delivered')
    expectAttempts(delivery, 1)
    expect(receiver.callsTo(host).length).toBeLessThanOrEqual(Number(delivery?.attempts))
  })

  test.each(FAILURES)('%s: dropped after three attempts', async (what, failure, answer) => {
    const { host, registered } = startedOf(answer)
    const [delivery] = await endedOf(registered)
    expect(delivery).toMatchObject({
      status: 'dropped',
      attempts: 3,
      failure: expect.stringMatching(
        MEASURES_TIME ? failure : new RegExp(`${failure.source}|within 5 seconds`),
      ),
    })
    const calls = receiver.callsTo(host)
    for (const call of calls) verifyCall(call, registered.webhookSecret ?? '')
    const isTimeout = what === 'no response' || what === 'headers without an end of the body'
    expectThreeAttempts(calls, delivery?.id, isTimeout)
  })

  test('a 2xx response to a retry ends the delivery; each attempt is signed with its own time', async () => {
    const { host, registered } = await begin((response, call) =>
      receiver.callsTo(call.host).length < 2 ? status(503)(response, call) : ok(response, call),
    )
    const [delivery] = await endedOf(registered)
    expect(delivery).toMatchObject({ status: 'delivered', response_status: 200 })
    expectAttempts(delivery, 2)
    const calls = receiver.callsTo(host)
    for (const call of calls) verifyCall(call, registered.webhookSecret ?? '')
    expect(calls).toHaveLength(2)
    expect(new Set(calls.map((call) => call.headers['x-market-signature'])).size).toBe(2)
  })
})

// They start at once, because each waits 5 seconds between its attempts.
describe('a dropped delivery', () => {
  const wallet = makeEvmWallet()
  const profile = makeProfile()
  const owners: readonly (readonly [who: string, owner: EndpointOwner, recipient: string | undefined])[] = [
    ['the user who owns the agent', { kind: 'user', profile }, `user:${profile.userId}`],
    ['the wallet that owns the agent', { kind: 'wallet', wallet }, `wallet:${wallet.key}`],
    ['no one when the agent has no owner', { kind: 'none' }, undefined],
  ]
  test.concurrent.each(owners)('notifies %s once', async (_who, owner, recipient) => {
    const host = newHost()
    receiver.answers.set(host, status(500))
    const registered = await world.agent(host, owner)
    await world.emit(registered.agent.id, 'bounty.claim_rejected', { bounty_id: 'bty_1' })
    await world.emit(registered.agent.id, 'bounty.claim_rejected', { bounty_id: 'bty_2' })
    const dropped = await endedOf(registered)
    expect(dropped.map((delivery) => delivery.status)).toEqual(['dropped', 'dropped'])
    const notifications = await world.db.selectFrom('notifications').selectAll().execute()
    const mine = notifications.filter(
      ({ data }) => (data as Record<string, unknown>)['agent_id'] === registered.agent.id,
    )
    const expected = recipient === undefined ? [] : dropped.map((delivery) => [recipient, delivery.id])
    expect(
      mine
        .map((notification) => [
          notification.recipient,
          (notification.data as Record<string, unknown>)['delivery_id'],
        ])
        .sort(),
    ).toEqual(expected.sort())
  })
})
