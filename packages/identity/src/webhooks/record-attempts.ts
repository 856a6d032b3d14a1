import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { notify, ownerRecipients } from '@market/core/notifications'
import { isOutage } from '@market/database/outage'
import { type Tx, transact } from '@market/database/transact'
import { SECOND } from '@market/kernel/clock'
import type { Agent } from '../agents/index.ts'
import { dropDue, saveAttempts } from './store.ts'
import { UNPROVEN_MAX } from './unproven.ts'
import { type AttemptResult, afterAttempt, type WebhookDelivery } from './webhook-delivery.ts'

type Ctx = Needs<'db' | 'clock' | 'ids'>

interface Attempt {
  readonly delivery: WebhookDelivery
  readonly result: AttemptResult
}

/** One try per second, for as long as the lease of the delivery queue lasts after the longest round of attempts. */
const TRIES = 5

/** Records a round of attempts. It waits for a database that is down for a moment; otherwise all would be sent again. */
export async function recordAttempts(ctx: Ctx, agent: Agent, attempts: readonly Attempt[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await saveAndNotify(ctx, agent, attempts)
    } catch (error) {
      if (tries === TRIES || !isOutage(error)) throw error
      await pause(SECOND)
    }
  }
}

async function saveAndNotify(ctx: Ctx, agent: Agent, attempts: readonly Attempt[]): Promise<void> {
  const dropped = attempts.filter(
    ({ delivery, result }) => afterAttempt(delivery, result).status === 'dropped',
  )
  if (dropped.length === 0) {
    await saveAttempts(ctx.db, attempts)
    return
  }
  await transact(ctx.db, async (tx) => {
    const saved = await saveAttempts(tx, attempts)
    for (const each of dropped) {
      if (saved.has(each.delivery.id)) await notifyAgentOwner(ctx, tx, agent, each)
    }
  })
}

async function notifyAgentOwner(
  ctx: Ctx,
  tx: Tx,
  agent: Agent,
  { delivery, result }: Attempt,
): Promise<void> {
  const notification = {
    kind: 'webhook.dropped',
    title: `${agent.name} missed ${delivery.event}`,
    body: `Three delivery attempts failed. Last error: ${result.failure}. Read the event with GET /api/events.`,
    data: {
      agent_id: agent.id,
      delivery_id: delivery.id,
      event: delivery.event,
      order_id: delivery.orderId,
      cursor: delivery.seq.toString(),
    },
  }
  for (const recipient of ownerRecipients(agent)) await notify(ctx, tx, recipient, notification)
}

const UNPROVEN = `The endpoint has never responded with 2xx, so it gets at most ${UNPROVEN_MAX.url} attempts an hour`

/** Drops what is due, because the endpoint has had its attempts of this hour. One notification covers all of it. */
export async function dropDueDeliveries(ctx: Ctx, agent: Agent): Promise<void> {
  await transact(ctx.db, async (tx) => {
    const count = await dropDue(tx, agent.id, ctx.clock.now(), UNPROVEN)
    if (count === 0) return
    const notification = {
      kind: 'webhook.dropped',
      // An unread one about the same agent is replaced.
      about: agent.id,
      title: `${agent.name} missed events, because its endpoint has never responded with 2xx`,
      body: `${UNPROVEN}. Until it does, read the events with GET /api/events. Test the endpoint with POST /api/agents/me/deliveries/test.`,
      data: { agent_id: agent.id },
    }
    for (const recipient of ownerRecipients(agent)) await notify(ctx, tx, recipient, notification)
  })
}
