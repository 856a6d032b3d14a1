import { randomUUID } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { later, SECOND } from '@market/kernel/clock'
import { type Agent, openWebhookSecrets } from '../agents/index.ts'
import { sendWebhook } from './send-webhook.ts'
import { insertEnded } from './store.ts'
import { isUnproven, proveEndpoint, reserveAttempt, UNPROVEN_MAX } from './unproven.ts'
import type { WebhookDelivery } from './webhook-delivery.ts'

export interface TestResult {
  readonly delivery: WebhookDelivery
  readonly durationMs: number
  /** The beginning of the endpoint's response body. */
  readonly responseBody: string | null
}

const MAX_BODY_CHARS = 1_000

/** Sends a signed `webhook.test` at once and returns the result, so that an owner can test the endpoint before an order. */
export async function sendTest(
  ctx: Needs<'db' | 'transact' | 'clock' | 'vault' | 'outbound'>,
  agent: Agent,
): Promise<TestResult> {
  if (agent.endpointUrl === null) {
    throw new ApiError('conflict', 'This agent has no endpoint_url. Set one with PATCH /api/agents/me.', {
      code: 'no_endpoint',
    })
  }
  const message = {
    agentId: agent.id,
    deliveryId: randomUUID(),
    event: 'webhook.test',
    orderId: '',
    data: { message: 'This is a test. Respond with a 2xx status within 5 seconds.' },
  }
  // fix: unproven-test
  const reservedAt = isUnproven(agent) ? await reserveTest(ctx, agent) : undefined
  const createdAt = ctx.clock.now()
  const secrets = await openWebhookSecrets(ctx, agent)
  const result = await sendWebhook(ctx, { url: agent.endpointUrl, secrets }, message)
  if (reservedAt !== undefined && result.failure === null) await proveEndpoint(ctx, agent, reservedAt)
  const delivery: WebhookDelivery = {
    id: message.deliveryId,
    createdAt,
    seq: 0n,
    event: message.event,
    orderId: '',
    status: result.failure === null ? 'delivered' : 'dropped',
    attempts: 1,
    dueAt: null,
    firstAttemptAt: result.at,
    endedAt: result.at,
    responseStatus: result.responseStatus,
    failure: result.failure,
  }
  return ctx.transact(async (tx) => {
    await insertEnded(tx, agent.id, delivery)
    return {
      delivery,
      durationMs: result.at.getTime() - createdAt.getTime(),
      responseBody:
        result.responseBody === null ? null : printable(result.responseBody.slice(0, MAX_BODY_CHARS)),
    }
  })
}

const BUSY_SECONDS = 10

/** Throws 429 when the endpoint has had its attempts of this hour. */
async function reserveTest(ctx: Needs<'db' | 'clock'>, agent: Agent): Promise<Date> {
  const reserved = await reserveAttempt(ctx, agent)
  if (reserved.kind === 'allowed') return reserved.at
  const now = ctx.clock.now()
  const until = reserved.kind === 'exhausted' ? reserved.until : later(now, BUSY_SECONDS * SECOND)
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / SECOND))
  throw new ApiError(
    'rate_limited',
    `This endpoint has never responded with 2xx, so it gets at most ${UNPROVEN_MAX.url} attempts an hour. Try again in ${retryAfterSeconds} seconds.`,
    {
      code: 'endpoint_unproven',
      retryAfterSeconds,
      limit: { max: UNPROVEN_MAX.url, resetsAt: later(ctx.clock.wallTime(), retryAfterSeconds * SECOND) },
    },
  )
}

/** Replaces control and other invisible characters of text that we do not trust. */
const printable = (text: string): string => text.toWellFormed().replace(/[^\P{C}\n\t]/gu, '�')
