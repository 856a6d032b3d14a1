import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { AppServices } from './application.ts'
import type { Caller, Client, ClientResponse, Request } from './client.ts'
import { briefOf, type TestOrder } from './test-order.ts'

export interface RunContext {
  readonly app: AppServices
  readonly client: Client
  readonly adminToken: string
}

type Fields = Readonly<Record<string, unknown>>

/** Records every response, so that the checks can compare it with the final state. */
export async function acknowledge(
  testOrder: TestOrder,
  action: string,
  {
    key,
    sending,
    reference,
  }: { key: string; sending: Promise<ClientResponse | undefined>; reference?: string },
): Promise<ClientResponse | undefined> {
  const answer = await sending
  if (answer === undefined) return undefined
  const said = answer.status < 300 ? String(answer.body.data?.status) : undefined
  testOrder.acknowledged.push({
    ...{ action, key, status: answer.status, code: answer.body.code, said, reference },
  })
  return answer
}

export const isDone = (answer: ClientResponse | undefined): boolean =>
  answer !== undefined && answer.status < 300

export async function create({ client }: RunContext, testOrder: TestOrder): Promise<boolean> {
  const answer = await acknowledge(testOrder, 'create', {
    key: testOrder.key,
    sending: client.send({
      method: 'POST',
      path: '/api/orders',
      caller: { wallet: testOrder.buyer },
      purpose: `orders.create:${testOrder.listing.id}`,
      key: testOrder.key,
      body: { service_id: testOrder.listing.id, brief: briefOf(testOrder) },
    }),
  })
  if (answer === undefined || !isDone(answer)) return false
  testOrder.orderId = answer.body.data.id as string
  return true
}

const byBuyer = (testOrder: TestOrder): Caller => ({ wallet: testOrder.buyer })
const byAgent = (testOrder: TestOrder): Caller => ({ bearer: testOrder.seller.apiKey })

function patch(
  { client }: RunContext,
  testOrder: TestOrder,
  action: string,
  caller: Caller,
  fields: Fields = {},
) {
  const key = randomUUID()
  const reference = fields['escrow_tx_hash'] as string | undefined
  const request: Request = {
    method: 'PATCH',
    path: `/api/orders/${testOrder.orderId}`,
    caller,
    purpose: `orders.${action}:${testOrder.orderId}`,
    key,
    body: { action, ...fields },
  }
  return acknowledge(testOrder, action, {
    key,
    sending: client.send(request),
    ...(reference && { reference }),
  })
}

export const pay = (context: RunContext, testOrder: TestOrder, { network, reference } = newest(testOrder)) =>
  patch(context, testOrder, 'pay', byBuyer(testOrder), {
    escrow_tx_hash: reference,
    payment_network: network,
  })

const newest = ({ sent }: TestOrder) => {
  const last = sent.at(-1)
  if (last === undefined) throw new Error('nothing was sent')
  return last
}

export const approve = (context: RunContext, testOrder: TestOrder) =>
  patch(context, testOrder, 'approve', byBuyer(testOrder))
export const cancel = (context: RunContext, testOrder: TestOrder) =>
  patch(context, testOrder, 'cancel', byBuyer(testOrder))
export const dispute = (context: RunContext, testOrder: TestOrder) =>
  patch(context, testOrder, 'dispute', byBuyer(testOrder), { reason: 'This is not what I asked for.' })
export const revise = (context: RunContext, testOrder: TestOrder) =>
  patch(context, testOrder, 'revision', byBuyer(testOrder), { feedback: 'Once more, with tests.' })
export const refund = (context: RunContext, testOrder: TestOrder) =>
  patch(context, testOrder, 'refund', byAgent(testOrder))

export function deliver({ client }: RunContext, testOrder: TestOrder): Promise<ClientResponse | undefined> {
  const key = randomUUID()
  const path = `/api/orders/${testOrder.orderId}/deliver`
  const body = { deliverable_url: 'https://hooks.example/the-work' }
  return acknowledge(testOrder, 'deliver', {
    key,
    sending: client.send({ method: 'POST', path, caller: byAgent(testOrder), key, body }),
  })
}

export function resolve(
  { client, adminToken }: RunContext,
  testOrder: TestOrder,
  verdict: { outcome: 'release' | 'refund' } | { outcome: 'split'; agent_share_bps: number },
) {
  const key = randomUUID()
  const path = `/api/admin/orders/${testOrder.orderId}/resolve`
  const body = { ...verdict, note: 'Both are right.' }
  return acknowledge(testOrder, verdict.outcome === 'refund' ? 'reverse' : 'award', {
    key,
    sending: client.send({ method: 'POST', path, caller: { bearer: adminToken }, key, body }),
  })
}

const POLL_MS = 300

/** Whether the order is paid for, looking for a while: a payment that came too early counts a little later. */
export async function isPaid(
  { client }: RunContext,
  testOrder: TestOrder,
  withinMs: number,
): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await client.send({
      method: 'GET',
      path: `/api/orders/${testOrder.orderId}`,
      caller: byBuyer(testOrder),
    })
    if (answer?.body.data?.order.status === 'paid') return true
    if (performance.now() > deadline) return false
    await wait(POLL_MS)
  }
}
