import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { notify, ownerRecipient } from '@market/core/notifications'
import { isOutage } from '@market/database/outage'
import { type Tx, transact } from '@market/database/transact'
import { SECOND } from '@market/kernel/clock'
import type { Agent } from '../agents/index.ts'
import { afterAttempt, type Delivery, type Outcome } from './delivery.ts'
import { saveAttempts } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids'>

interface Attempt {
  readonly delivery: Delivery
  readonly outcome: Outcome
}

/** As many seconds as the lane's hold leaves after a round of attempts. */
const TRIES = 5

/** Writes down what came of a round. A database that is away for a moment is waited for: else all would be sent again. */
export async function writeDown(ctx: Ctx, agent: Agent, attempts: readonly Attempt[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await write(ctx, agent, attempts)
    } catch (error) {
      if (tries === TRIES || !isOutage(error)) throw error
      await pause(SECOND)
    }
  }
}

async function write(ctx: Ctx, agent: Agent, attempts: readonly Attempt[]): Promise<void> {
  const last = attempts.filter(
    ({ delivery, outcome }) => afterAttempt(delivery, outcome).status === 'dropped',
  )
  if (last.length === 0) {
    await saveAttempts(ctx.db, attempts)
    return
  }
  await transact(ctx.db, async (tx) => {
    const saved = await saveAttempts(tx, attempts)
    for (const each of last) if (saved.has(each.delivery.id)) await tellOwner(ctx, tx, agent, each)
  })
}

async function tellOwner(ctx: Ctx, tx: Tx, agent: Agent, { delivery, outcome }: Attempt): Promise<void> {
  const recipient = ownerRecipient(agent)
  if (recipient === undefined) return
  await notify(ctx, tx, recipient, {
    kind: 'webhook.dropped',
    title: `${agent.name} missed ${delivery.event}`,
    body: `Three attempts failed; the last one said: ${outcome.failure}. The event can still be read by GET /api/events.`,
    data: {
      agent_id: agent.id,
      delivery_id: delivery.id,
      event: delivery.event,
      order_id: delivery.orderId,
      cursor: delivery.seq.toString(),
    },
  })
}
