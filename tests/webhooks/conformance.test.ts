import { isDeepStrictEqual } from 'node:util'
import { EVENTS, NEVER_SENT } from '@market/contract/events'
import type { EventDataOf, EventName } from '@market/core/events'
import type { Registered } from '@market/identity/agents'
import { makeEvmWallet, makeProfile } from '@market/testing/makers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAtLeast, expectWithin, testTimeout } from '../support/measured.ts'
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
    await until('all requests arrived', () => receiver.callsTo(host).length >= samples.length, {
      withinMs: testTimeout(20_000),
    })

    const calls = receiver.callsTo(host)
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
    for (const delivery of await endedOf(registered))
      expect(delivery).toMatchObject({
        status: 'delivered',
        attempts: 1,
        response_status: 200,
        failure: null,
      })
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

/** Checks the delays between the three attempts. */
function expectTiming(calls: readonly Call[], isTimeout: boolean): void {
  const [first, second, third] = calls.map((call) => call.arrivedAt)
  const gaps = [Number(second) - Number(first), Number(third) - Number(second)]
  for (const [n, gap] of [1_000, 4_000].entries()) {
    expect(gaps[n]).toBeGreaterThanOrEqual(gap)
    // The five seconds start before the connection is made, on a busy machine long before the receiver sees it.
    expectAtLeast(gaps[n] ?? Number.NaN, isTimeout ? gap + 4_500 : gap)
    expectWithin(gaps[n] ?? Number.NaN, gap + (isTimeout ? 5_000 : 0) + 3_000)
  }
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
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 1 })
    expect(receiver.callsTo(host)).toHaveLength(1)
  })

  test.each(FAILURES)('%s: dropped after three attempts', async (what, failure, answer) => {
    const { host, registered } = startedOf(answer)
    const [delivery] = await endedOf(registered)
    expect(delivery).toMatchObject({
      status: 'dropped',
      attempts: 3,
      failure: expect.stringMatching(failure),
    })
    const calls = receiver.callsTo(host)
    expect(calls.map((call) => [call.deliveryId, call.path])).toEqual(Array(3).fill([delivery?.id, '/in']))
    expect(new Set(calls.map((call) => call.rawBody.toString())).size).toBe(1)
    for (const call of calls) verifyCall(call, registered.webhookSecret ?? '')
    expectTiming(calls, what === 'no response' || what === 'headers without an end of the body')
  })

  test('a 2xx response to a retry ends the delivery; each attempt is signed with its own time', async () => {
    const { host, registered } = await begin((response, call) =>
      receiver.callsTo(call.host).length < 3 ? status(503)(response, call) : ok(response, call),
    )
    const [delivery] = await endedOf(registered)
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 3, response_status: 200 })
    const calls = receiver.callsTo(host)
    for (const call of calls) verifyCall(call, registered.webhookSecret ?? '')
    expect(new Set(calls.map((call) => call.headers['x-market-signature'])).size).toBe(3)
  })
})

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
