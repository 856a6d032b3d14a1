import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { later } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, findAgentById, openWebhookSecrets, type WebhookSecrets } from '../agents/index.ts'
import {
  BUSY_MS,
  EVENTS_PER_ROUND,
  LEASE_MS,
  MAX_CONCURRENT,
  MAX_ROUNDS,
  RENEW_AFTER_MS,
  SPREAD_MS,
} from './delivery-queue.ts'
import { dropDueDeliveries, recordAttempts } from './record-attempts.ts'
import { sendWebhook } from './send-webhook.ts'
import {
  createDeliveries,
  type DueDelivery,
  findDue,
  findRemaining,
  leaseDeliveryQueue,
  releaseDeliveryQueue,
} from './store.ts'
import { isUnproven, proveEndpoint, reserveAttempt } from './unproven.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'outbound'>

/** When to run again for this agent; undefined when no delivery waits. */
type NextRun = { readonly delayMs: number; readonly reason: 'due' | 'leased' } | undefined

/**
 * Sends an agent's events to its endpoint. One worker at a time does so, under a lease that expires when the worker is
 * killed. An attempt that was sent and not recorded is sent again with the same delivery id.
 */
export async function deliverEvents(ctx: Ctx, agentId: AgentId, stopping: () => boolean): Promise<NextRun> {
  const holder = randomUUID()
  const msFromNow = (at: Date) => Math.max(at.getTime() - ctx.clock.now().getTime(), 0)
  let hasFailed = false
  let lease: { since: Date; lastSeq: bigint } | undefined
  for (let round = 0; round < MAX_ROUNDS && !stopping(); round++) {
    const now = ctx.clock.now()
    if (lease === undefined || now >= later(lease.since, RENEW_AFTER_MS)) {
      const leased = await leaseDeliveryQueue(ctx.db, agentId, { holder, now, until: later(now, LEASE_MS) })
      if ('leasedUntil' in leased) return { delayMs: msFromNow(leased.leasedUntil), reason: 'leased' }
      lease = { since: now, lastSeq: leased.lastSeq }
    }
    const agent = await findAgentById(ctx.db, agentId)
    const created = await createDeliveries(
      ctx.db,
      { agentId, holder, lastSeq: lease.lastSeq },
      { now: ctx.clock.now(), limit: EVENTS_PER_ROUND, hasEndpoint: agent.endpointUrl !== null },
    )
    lease.lastSeq = created.lastSeq
    // One at a time until the endpoint is proven, so that the first success ends the limit before it drops anything.
    const most = isUnproven(agent) ? 1 : MAX_CONCURRENT
    const due = await findDue(ctx.db, agentId, ctx.clock.now(), most)
    if (due.length > 0) {
      // fix: unproven-attempts
      const reserved = isUnproven(agent) ? await reserveAttempt(ctx, agent) : undefined
      if (reserved?.kind === 'busy') {
        await releaseDeliveryQueue(ctx.db, agentId, holder)
        return { delayMs: BUSY_MS, reason: 'due' }
      }
      if (reserved?.kind === 'exhausted') await dropDueDeliveries(ctx, agent)
      else hasFailed = await attemptAll(ctx, agent, due, hasFailed)
      if (reserved?.kind === 'allowed' && !hasFailed) await proveEndpoint(ctx, agent, reserved.at)
    }
    if (due.length === most || created.events === EVENTS_PER_ROUND) continue

    await releaseDeliveryQueue(ctx.db, agentId, holder)
    // Queried after the release: the job of an event committed before it may have found the queue leased, and ended.
    const remaining = await findRemaining(ctx.db, agentId, lease.lastSeq)
    lease = undefined
    const delayMs = remaining.nextDue === null ? undefined : msFromNow(remaining.nextDue)
    if (remaining.hasEvents || delayMs === 0) continue
    return delayMs === undefined ? undefined : { delayMs, reason: 'due' }
  }
  await releaseDeliveryQueue(ctx.db, agentId, holder)
  return { delayMs: 0, reason: 'due' }
}

/**
 * Makes one round of attempts and returns whether all of them failed. The attempts start together. If the last ones
 * failed, each waits until the one before it has ended or `SPREAD_MS` have passed, until one succeeds. A retry in the
 * round also counts as a failure, since another job may have made the attempt before it.
 */
async function attemptAll(
  ctx: Ctx,
  agent: Agent,
  due: readonly DueDelivery[],
  hasFailed: boolean,
): Promise<boolean> {
  const secrets = await openWebhookSecrets(ctx, agent)
  let isFailing = hasFailed || due.some(({ attempts }) => attempts > 0)
  let allFailed = true
  const start = async (delivery: DueDelivery) => {
    const result = await attempt(ctx, agent, secrets, delivery)
    if (result.failure === null) {
      isFailing = false
      allFailed = false
    }
    return { delivery, result }
  }
  const attempts: ReturnType<typeof start>[] = []
  for (const delivery of due) {
    if (isFailing && attempts.length > 0) await Promise.race([attempts.at(-1), pause(SPREAD_MS)])
    attempts.push(start(delivery))
  }
  await recordAttempts(ctx, agent, await Promise.all(attempts))
  return allFailed
}

function attempt(ctx: Ctx, agent: Agent, secrets: WebhookSecrets, delivery: DueDelivery) {
  const failed = (failure: string) => ({ at: ctx.clock.now(), responseStatus: null, failure })
  if (delivery.data === null) return failed('The event is older than 90 days and was deleted')
  // The endpoint may have been removed after the delivery was created.
  if (agent.endpointUrl === null) return failed('The agent has no endpoint_url any more')
  const message = { agentId: agent.id, deliveryId: delivery.id, ...delivery }
  return sendWebhook(ctx, { url: agent.endpointUrl, secrets }, message)
}
