import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { AppServices } from './application.ts'
import type { Answer, Caller, Client, Request } from './client.ts'
import { briefOf, type Story } from './story.ts'

export interface Stage {
  readonly app: AppServices
  readonly client: Client
  readonly adminToken: string
}

type Fields = Readonly<Record<string, unknown>>

/** Remembers what was answered, whatever it was: what was said must be so in the end. */
export async function acknowledge(
  story: Story,
  action: string,
  { key, asking, reference }: { key: string; asking: Promise<Answer | undefined>; reference?: string },
): Promise<Answer | undefined> {
  const answer = await asking
  if (answer === undefined) return undefined
  const said = answer.status < 300 ? String(answer.body.data?.status) : undefined
  story.acknowledged.push({
    ...{ action, key, status: answer.status, code: answer.body.code, said, reference },
  })
  return answer
}

export const isDone = (answer: Answer | undefined): boolean => answer !== undefined && answer.status < 300

export async function create({ client }: Stage, story: Story): Promise<boolean> {
  const answer = await acknowledge(story, 'create', {
    key: story.key,
    asking: client.ask({
      method: 'POST',
      path: '/api/orders',
      caller: { wallet: story.buyer },
      key: story.key,
      body: { service_id: story.listing.id, brief: briefOf(story) },
    }),
  })
  if (answer === undefined || !isDone(answer)) return false
  story.orderId = answer.body.data.id as string
  return true
}

const byBuyer = (story: Story): Caller => ({ wallet: story.buyer })
const byAgent = (story: Story): Caller => ({ bearer: story.seller.apiKey })

function patch({ client }: Stage, story: Story, action: string, caller: Caller, fields: Fields = {}) {
  const key = randomUUID()
  const reference = fields['escrow_tx_hash'] as string | undefined
  const request: Request = {
    method: 'PATCH',
    path: `/api/orders/${story.orderId}`,
    caller,
    purpose: `orders.${action}:${story.orderId}`,
    key,
    body: { action, ...fields },
  }
  return acknowledge(story, action, { key, asking: client.ask(request), ...(reference && { reference }) })
}

export const pay = (stage: Stage, story: Story, { network, reference } = newest(story)) =>
  patch(stage, story, 'pay', byBuyer(story), { escrow_tx_hash: reference, payment_network: network })

const newest = ({ sent }: Story) => {
  const last = sent.at(-1)
  if (last === undefined) throw new Error('nothing was sent')
  return last
}

export const approve = (stage: Stage, story: Story) => patch(stage, story, 'approve', byBuyer(story))
export const cancel = (stage: Stage, story: Story) => patch(stage, story, 'cancel', byBuyer(story))
export const dispute = (stage: Stage, story: Story) =>
  patch(stage, story, 'dispute', byBuyer(story), { reason: 'This is not what I asked for.' })
export const revise = (stage: Stage, story: Story) =>
  patch(stage, story, 'revision', byBuyer(story), { feedback: 'Once more, with tests.' })
export const refund = (stage: Stage, story: Story) => patch(stage, story, 'refund', byAgent(story))

export function deliver({ client }: Stage, story: Story): Promise<Answer | undefined> {
  const key = randomUUID()
  const path = `/api/orders/${story.orderId}/deliver`
  const body = { deliverable_url: 'https://hooks.example/the-work' }
  return acknowledge(story, 'deliver', {
    key,
    asking: client.ask({ method: 'POST', path, caller: byAgent(story), key, body }),
  })
}

export function resolve(
  { client, adminToken }: Stage,
  story: Story,
  verdict: { outcome: 'release' | 'refund' } | { outcome: 'split'; agent_share_bps: number },
) {
  const key = randomUUID()
  const path = `/api/admin/orders/${story.orderId}/resolve`
  const body = { ...verdict, note: 'Both are right.' }
  return acknowledge(story, verdict.outcome === 'refund' ? 'reverse' : 'award', {
    key,
    asking: client.ask({ method: 'POST', path, caller: { bearer: adminToken }, key, body }),
  })
}

const LOOK_EVERY_MS = 300

/** Whether the order is paid for, looking for a while: a payment that came too early counts a little later. */
export async function isPaid({ client }: Stage, story: Story, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await client.ask({
      method: 'GET',
      path: `/api/orders/${story.orderId}`,
      caller: byBuyer(story),
    })
    if (answer?.body.data?.order.status === 'paid') return true
    if (performance.now() > deadline) return false
    await wait(LOOK_EVERY_MS)
  }
}
