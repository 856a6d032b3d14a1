import { randomUUID } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { type Agent, openWebhookSecret } from '../agents/index.ts'
import { attempt } from './attempt.ts'
import type { Delivery } from './delivery.ts'
import { insertEnded } from './store.ts'

export interface TestResult {
  readonly delivery: Delivery
  readonly tookMs: number
  /** The beginning of what the endpoint answered. */
  readonly answer: string | null
}

const SHOWN = 1_000

/** Sends a signed `webhook.test` at once and tells what came back, so that the wiring can be tried before an order. */
export async function sendTest(
  ctx: Needs<'transact' | 'clock' | 'vault' | 'outbound'>,
  agent: Agent,
): Promise<TestResult> {
  if (agent.endpointUrl === null) {
    throw new ApiError('conflict', 'This agent has no endpoint_url. Set one by PATCH /api/agents/me.', {
      code: 'no_endpoint',
    })
  }
  const message = {
    agentId: agent.id,
    deliveryId: randomUUID(),
    event: 'webhook.test',
    orderId: '',
    data: { message: 'This is a test. Answer 2xx within 5 seconds.' },
  }
  const createdAt = ctx.clock.now()
  const secret = await openWebhookSecret(ctx, agent)
  const outcome = await attempt(ctx, { url: agent.endpointUrl, secret }, message)
  const delivery: Delivery = {
    id: message.deliveryId,
    createdAt,
    seq: 0n,
    event: message.event,
    orderId: '',
    status: outcome.failure === null ? 'delivered' : 'dropped',
    attempts: 1,
    dueAt: null,
    firstAttemptAt: outcome.at,
    endedAt: outcome.at,
    responseStatus: outcome.responseStatus,
    failure: outcome.failure,
  }
  return ctx.transact(async (tx) => {
    await insertEnded(tx, agent.id, delivery)
    return {
      delivery,
      tookMs: outcome.at.getTime() - createdAt.getTime(),
      answer: outcome.answer === null ? null : printable(outcome.answer.slice(0, SHOWN)),
    }
  })
}

/** What an endpoint answers is a stranger's text: nothing invisible of it is handed on. */
const printable = (text: string): string => text.toWellFormed().replace(/[^\P{C}\n\t]/gu, '�')
