import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { DAY, earlier, HOUR, later, SECOND } from '@market/kernel/clock'
import { type Agent, saveEndpointProven } from '../agents/index.ts'
import { addAttempt, lockAttempts, removeAttempt, removeAttemptsBefore } from './unproven/store.ts'

/**
 * Attempts in an hour to endpoints that never responded with 2xx, because anybody can name the endpoint of somebody else.
 * Several agents can name the same URL or host, and one agent can name many.
 */
export const UNPROVEN_MAX = { url: 10, host: 30, agent: 30 } as const
const WINDOW_MS = HOUR

/** Longer than an attempt takes: one that began earlier has failed. */
const ATTEMPT_MS = 10 * SECOND

export const isUnproven = ({ endpointUrl, endpointProvenAt }: Agent): boolean =>
  endpointUrl !== null && endpointProvenAt === null

export type Reservation =
  | { readonly kind: 'allowed'; readonly at: Date }
  /** Other attempts to the same endpoint have not ended yet, and may succeed. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'exhausted'; readonly until: Date }

type Ctx = Needs<'db' | 'clock'>

/** Counts an attempt before it is made, so that concurrent ones do not exceed the maximum together. */
export function reserveAttempt(ctx: Ctx, agent: Agent): Promise<Reservation> {
  const now = ctx.clock.now()
  return transact(ctx.db, async (tx) => {
    const since = earlier(now, WINDOW_MS)
    const counted = await lockAttempts(tx, subjectsOf(agent), {
      now,
      since,
      endedBefore: earlier(now, ATTEMPT_MS),
    })
    // A host that responds to one of our webhooks with 2xx could get any number of them at that URL anyway.
    const full = counted.filter(({ subject, attempts, isProven }) => !isProven && attempts >= maxOf(subject))
    const used = full.find(({ subject, ended }) => ended >= maxOf(subject))
    if (used !== undefined) return { kind: 'exhausted', until: later(used.oldest ?? now, WINDOW_MS) }
    if (full.length > 0) return { kind: 'busy' }
    await addAttempt(tx, subjectsOf(agent), now)
    return { kind: 'allowed', at: now }
  })
}

/** Records that the endpoint responded with 2xx. The attempt that proved it does not count. */
export function proveEndpoint(ctx: Ctx, agent: Agent, attemptedAt: Date): Promise<void> {
  const { endpointUrl } = agent
  if (endpointUrl === null) return Promise.resolve()
  const now = ctx.clock.now()
  return transact(ctx.db, async (tx) => {
    await removeAttempt(tx, subjectsOf(agent), attemptedAt, now)
    await saveEndpointProven(tx, agent.id, endpointUrl, now)
  })
}

const maxOf = (subject: string): number => UNPROVEN_MAX[subject.split(':', 1)[0] as keyof typeof UNPROVEN_MAX]

/** Sorted, so that transactions lock them in one order. The query is left out: another one is the same endpoint. */
function subjectsOf({ id, endpointUrl }: Agent): string[] {
  const { origin, pathname, hostname } = new URL(endpointUrl ?? '')
  const digest = createHash('sha256').update(`${origin}${pathname}`).digest('hex')
  return [`agent:${id}`, `host:${hostname}`, `url:${digest}`]
}

/** A host that is not called for this long has to prove itself again. */
const HOST_MS = 90 * DAY

/** Deletes counters that count nothing any more. */
export const deleteOldAttempts = ({ db, clock }: Ctx): Promise<number> => {
  const now = clock.now()
  const before = { unproven: earlier(now, WINDOW_MS), proven: earlier(now, HOST_MS) }
  return inBatches((limit) => transact(db, (tx) => removeAttemptsBefore(tx, before, limit)))
}
