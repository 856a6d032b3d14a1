import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { later } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, findAgentById, openWebhookSecret } from '../agents/index.ts'
import { attempt } from './attempt.ts'
import { ABREAST, HOLD_MS, INTAKE, RENEW_MS, ROUNDS, SPREAD_MS } from './delivery-queue.ts'
import {
  type DueDelivery,
  findDue,
  findLeft,
  holdDeliveryQueue,
  releaseDeliveryQueue,
  takeInEvents,
} from './store.ts'
import { writeDown } from './write-down.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'outbound'>

/** When this agent's events should be carried on, in milliseconds from now; undefined when nothing waits. */
type Again = { readonly inMs: number; readonly why: 'due' | 'held' } | undefined

/**
 * Carries an agent's events to its endpoint, one carrier at a time. Whoever is killed on the way leaves a hold that
 * runs out; what was sent and not written down is sent again under the same delivery id.
 */
export async function carryEvents(ctx: Ctx, agentId: AgentId, stopping: () => boolean): Promise<Again> {
  const holder = randomUUID()
  const msFromNow = (at: Date) => Math.max(at.getTime() - ctx.clock.now().getTime(), 0)
  let hasFailed = false
  let lane: { heldSince: Date; lastSeq: bigint } | undefined
  for (let round = 0; round < ROUNDS && !stopping(); round++) {
    const now = ctx.clock.now()
    if (lane === undefined || now >= later(lane.heldSince, RENEW_MS)) {
      const held = await holdDeliveryQueue(ctx.db, agentId, { holder, now, until: later(now, HOLD_MS) })
      if ('heldUntil' in held) return { inMs: msFromNow(held.heldUntil), why: 'held' }
      lane = { heldSince: now, lastSeq: held.lastSeq }
    }
    const agent = await findAgentById(ctx.db, agentId)
    const how = { now: ctx.clock.now(), limit: INTAKE, hasEndpoint: agent.endpointUrl !== null }
    const taken = await takeInEvents(ctx.db, { agentId, holder, lastSeq: lane.lastSeq }, how)
    lane.lastSeq = taken.newest
    const due = await findDue(ctx.db, agentId, ctx.clock.now(), ABREAST)
    if (due.length > 0) hasFailed = await carry(ctx, agent, due, hasFailed)
    if (due.length === ABREAST || taken.count === INTAKE) continue

    await releaseDeliveryQueue(ctx.db, agentId, holder)
    // Asked after the leave: an event may have been committed before it, and its job have found the lane held.
    const left = await findLeft(ctx.db, agentId, lane.lastSeq)
    lane = undefined
    const inMs = left.nextDue === null ? undefined : msFromNow(left.nextDue)
    if (left.hasEvents || inMs === 0) continue
    return inMs === undefined ? undefined : { inMs, why: 'due' }
  }
  await releaseDeliveryQueue(ctx.db, agentId, holder)
  return { inMs: 0, why: 'due' }
}

/**
 * Makes one round of attempts and returns whether all of them failed. The attempts start together. If the last ones
 * failed, each waits until the one before it has ended or `SPREAD_MS` have passed, until one succeeds. A retry in the
 * round also counts as a failure, since another job may have made the attempt before it.
 */
async function carry(
  ctx: Ctx,
  agent: Agent,
  due: readonly DueDelivery[],
  hasFailed: boolean,
): Promise<boolean> {
  const secret = await openWebhookSecret(ctx, agent)
  let isFailing = hasFailed || due.some(({ attempts }) => attempts > 0)
  let allFailed = true
  const start = async (delivery: DueDelivery) => {
    const message = { agentId: agent.id, deliveryId: delivery.id, ...delivery }
    const outcome = await send(ctx, agent, secret, message)
    if (outcome.failure === null) {
      isFailing = false
      allFailed = false
    }
    return { delivery, outcome }
  }
  const attempts: ReturnType<typeof start>[] = []
  for (const delivery of due) {
    if (isFailing && attempts.length > 0) await Promise.race([attempts.at(-1), pause(SPREAD_MS)])
    attempts.push(start(delivery))
  }
  await writeDown(ctx, agent, await Promise.all(attempts))
  return allFailed
}

function send(ctx: Ctx, agent: Agent, secret: string | null, message: Parameters<typeof attempt>[2]) {
  const failed = (failure: string) => ({ at: ctx.clock.now(), responseStatus: null, failure })
  if (message.data === null) return failed('The event is kept no longer')
  // The endpoint may have been taken away after the delivery was made.
  if (agent.endpointUrl === null) return failed('The agent has no endpoint any more')
  return attempt(ctx, { url: agent.endpointUrl, secret }, message)
}
