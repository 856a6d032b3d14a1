import { operations } from '@market/contract/operations'
import { type Actor, nameOf } from '@market/core/context'
import { findEventsAfter, findLastSeqs } from '@market/core/events'
import { ApiError } from '@market/kernel/api-error'
import { later, SECOND } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import type { AppServices } from './app-services.ts'
import { authorize } from './authorize.ts'
import type { ApiResponse, Call } from './call.ts'
import { withSignatureBudget } from './chain-budget.ts'
import { presentEvent } from './events.ts'
import { asApiError, failureOf } from './failure.ts'
import { identify } from './identify.ts'
import { limit } from './limit.ts'
import { parse } from './parse.ts'
import { logSecurityEvent, rejectedEvent } from './security-events.ts'

/** A client needs one stream, and a second while it replaces the first. */
const STREAMS_PER_AGENT = 5
const POLL_MS = 250
const BATCH = 100

type StreamedEvent = ReturnType<typeof presentEvent>

export interface EventStream {
  readonly headers: Readonly<Record<string, string>>
  /** Yields events until `signal` aborts, and `undefined` after `idleMs` without an event, for a keep-alive. */
  read(signal: AbortSignal, idleMs: number): AsyncGenerator<StreamedEvent | undefined>
  close(): void
}

export interface EventStreams {
  /** Opens a stream after the same checks as GET /api/events, or returns the error response. */
  open(call: Omit<Call, 'operation'>): Promise<EventStream | ApiResponse>
  stop(): void
}

/** A stream that waits for an event after its last one. Two streams of an agent may be at different numbers. */
interface Reader {
  readonly lastSeq: bigint
  readonly wake: () => void
}

/** All streams of a process share one polling query. */
export function eventStreams(app: AppServices): EventStreams {
  const openCounts = new Map<AgentId, number>()
  const waiting = new Map<AgentId, Set<Reader>>()

  const poll = async () => {
    if (waiting.size === 0) return
    const newest = await findLastSeqs(app.db, [...waiting.keys()])
    for (const [agentId, readers] of waiting) {
      const seq = newest.get(agentId) ?? 0n
      for (const reader of readers) if (seq > reader.lastSeq) reader.wake()
    }
  }
  let polling = false
  const timer = setInterval(async () => {
    if (polling) return
    polling = true
    await poll().catch(() => undefined)
    polling = false
  }, POLL_MS)
  timer.unref()

  const nextEvent = (agentId: AgentId, lastSeq: bigint, signal: AbortSignal, idleMs: number) =>
    new Promise<'woken' | 'idle'>((resolve) => {
      const readers = waiting.get(agentId) ?? new Set()
      waiting.set(agentId, readers)
      const end = (reason: 'woken' | 'idle') => {
        clearTimeout(timeout)
        signal.removeEventListener('abort', wake)
        readers.delete(reader)
        if (readers.size === 0) waiting.delete(agentId)
        resolve(reason)
      }
      const wake = () => end('woken')
      const reader = { lastSeq, wake }
      const timeout = setTimeout(() => end('idle'), idleMs)
      signal.addEventListener('abort', wake)
      readers.add(reader)
      if (signal.aborted) wake()
    })

  /** A key that was replaced gets nothing more, also on a stream that it opened before. */
  const isStillValid = (call: Call): Promise<boolean> =>
    identify(app, app.operators, call).then(
      () => true,
      (error) => {
        if (asApiError(error)?.kind === 'unauthenticated') return false
        throw error
      },
    )

  async function* read(call: Call, agentId: AgentId, after: bigint, signal: AbortSignal, idleMs: number) {
    let lastSeq = after
    while (!signal.aborted) {
      const events = await findEventsAfter(app.db, agentId, lastSeq, BATCH)
      if (events.length > 0 && !(await isStillValid(call))) return
      for (const event of events) {
        yield presentEvent(event)
        lastSeq = event.seq
      }
      if (events.length > 0) continue
      if ((await nextEvent(agentId, lastSeq, signal, idleMs)) === 'woken') continue
      if (!(await isStillValid(call))) return
      yield undefined
    }
  }

  return {
    open: async (partial) => {
      const call: Call = { ...partial, operation: operations.listEvents }
      let headers: Readonly<Record<string, string>> = {}
      let actor: Actor | undefined
      try {
        const limited = await limit(app, call.operation, call.address)
        headers = limited.headers
        if (limited.apiError !== undefined) throw limited.apiError
        if (call.rejected !== undefined) throw call.rejected
        actor = (await identify(withSignatureBudget(app, call), app.operators, call)).actor
        call.onCaller?.(nameOf(actor))
        authorize(call.operation, actor)
        const { after } = parse(call.operation, call.input) as { after: string }
        if (actor.kind !== 'agent') throw new Error('authorize accepted a caller that is not an agent')
        const { agentId } = actor
        const count = openCounts.get(agentId) ?? 0
        if (count >= STREAMS_PER_AGENT) throw tooManyStreams(app.clock.wallTime())
        openCounts.set(agentId, count + 1)
        return {
          headers,
          read: (signal, idleMs) => read(call, agentId, BigInt(after), signal, idleMs),
          close: () => decrement(openCounts, agentId),
        }
      } catch (error) {
        if (asApiError(error) === undefined) app.onFault(error, call)
        logSecurityEvent(app, rejectedEvent(call, actor, error))
        const failure = failureOf(error, call.requestId)
        return { ...failure, headers: { ...headers, ...failure.headers } }
      }
    },
    stop: () => clearInterval(timer),
  }
}

function decrement(counts: Map<AgentId, number>, agentId: AgentId): void {
  const left = (counts.get(agentId) ?? 1) - 1
  if (left === 0) counts.delete(agentId)
  else counts.set(agentId, left)
}

/** An open stream may end at any time, so the client tries again soon. */
const STREAM_RETRY_SECONDS = 5

const tooManyStreams = (now: Date): ApiError =>
  new ApiError(
    'rate_limited',
    `This agent already has ${STREAMS_PER_AGENT} open streams, the maximum. Close one first.`,
    {
      code: 'too_many_streams',
      retryAfterSeconds: STREAM_RETRY_SECONDS,
      limit: { max: STREAMS_PER_AGENT, resetsAt: later(now, STREAM_RETRY_SECONDS * SECOND) },
    },
  )
