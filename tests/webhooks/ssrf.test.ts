import { isIP } from 'node:net'
import type { AgentId } from '@market/kernel/ids'
import { FORBIDDEN_TARGETS, FORBIDDEN_ZONE } from '@market/testing/forbidden-targets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startWorld, type WebhookWorld } from '../support/webhook-world.ts'

const NOT_PUBLIC = 'The endpoint resolves to an address that is not public'

/** Every forbidden address. Connections to them are rerouted to the canary, which counts them. */
function forbiddenAddresses(): string[] {
  const literal = FORBIDDEN_TARGETS.map(([, url]) => URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '')
  return [...new Set([...literal, ...Object.values(FORBIDDEN_ZONE).flat()])].filter(
    (host) => isIP(host) !== 0,
  )
}

let canary: WebhookReceiver
let world: WebhookWorld
const agentOf = new Map<string, AgentId>()
beforeAll(async () => {
  canary = await startReceiver()
  world = await startWorld({ receiver: canary })
  for (const [n, [, url]] of FORBIDDEN_TARGETS.entries()) {
    const { agent } = await world.agent(`e${n}.hooks.example`)
    // Written to the table directly, because the API rejects all of these.
    await world.db.updateTable('agents').set({ endpoint_url: url }).where('id', '=', agent.id).execute()
    agentOf.set(url, agent.id)
  }
  for (const [name, addresses] of Object.entries(FORBIDDEN_ZONE)) world.dns.answers.set(name, addresses)
  const moved = await world.agent('moves.hooks.example')
  agentOf.set('moved', moved.agent.id)
  world.dns.answers.set('moves.hooks.example', ['127.0.0.1'])
  for (const id of agentOf.values())
    await world.emit(id, 'order.completed', { payout_failed: false }, 'ord_1')
  const reroutes = forbiddenAddresses().map((address) => `${address}=127.0.0.1:${canary.port}`)
  await world.worker({ OUTBOUND_REROUTE: reroutes.join(',') })
})
afterAll(async () => {
  await world.stop()
  await canary.stop()
})

async function droppedOf(what: string) {
  const id = agentOf.get(what) ?? expect.unreachable('made above')
  await until(
    `the delivery to ${what} has ended`,
    async () => (await world.deliveriesOf(id)).some((delivery) => delivery.status !== 'pending'),
    { withinMs: 30_000, everyMs: 100 },
  )
  const [delivery] = await world.deliveriesOf(id)
  return delivery
}

describe('an endpoint that resolves to a private address after it was accepted', () => {
  test.each(FORBIDDEN_TARGETS)('%s: no connection is made (%j)', async (_form, url) => {
    expect(await droppedOf(url)).toMatchObject({
      status: 'dropped',
      attempts: 3,
      response_status: null,
      failure: NOT_PUBLIC,
    })
    expect(canary.connections()).toBe(0)
  })

  test('no connection is made to a name that became private between registration and delivery', async () => {
    expect(await droppedOf('moved')).toMatchObject({ status: 'dropped', attempts: 3, failure: NOT_PUBLIC })
    expect(canary.connections()).toBe(0)
  })

  test('no second connection is made to a name that became private between two attempts', async () => {
    const { agent } = await world.agent('later.hooks.example')
    agentOf.set('later', agent.id)
    canary.answers.set('later.hooks.example', (response) => {
      world.dns.answers.set('later.hooks.example', ['10.0.0.1'])
      response.writeHead(500).end()
    })
    await world.emit(agent.id, 'order.completed', { payout_failed: false }, 'ord_1')
    await until('the first attempt', () => canary.calls.length > 0, { withinMs: 10_000 })
    expect(await droppedOf('later')).toMatchObject({ status: 'dropped', attempts: 3, failure: NOT_PUBLIC })
    expect([canary.callsTo('later.hooks.example').length, canary.connections()]).toEqual([1, 1])
  })
})
