import { operations } from '@market/contract/operations'
import { findEventsAfter, lastSeqOf } from '@market/core/events'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { AppServices } from './app-services.ts'
import { authorize } from './authorize.ts'
import type { Answer, Call } from './call.ts'
import { presentEvent } from './events.ts'
import { asApiError, failureOf } from './failure.ts'
import { identify } from './identify.ts'
import { limit } from './limit.ts'
import { parse } from './parse.ts'

/** A client needs one stream, and a second while it replaces the first. */
const STREAMS_PER_AGENT = 5
const LOOK_MS = 250
const BATCH = 100

type SentEvent = ReturnType<typeof presentEvent>

export interface EventStream {
  readonly headers: Readonly<Record<string, string>>
  /** What happens from here on, as it happens; ends when `signal` says so. `undefined` marks a while without news. */
  read(signal: AbortSignal, quietMs: number): AsyncGenerator<SentEvent | undefined>
  close(): void
}

export interface EventStreams {
  /** Opens a stream after the same checks as GET /api/events, or answers why not. */
  open(call: Omit<Call, 'operation'>): Promise<EventStream | Answer>
  stop(): void
}

/** One that waits; each by its own number, for two streams of an agent need not have come equally far. */
interface Reader {
  readonly seen: bigint
  readonly wake: () => void
}

/** All streams of a process share one question to the database, however many there are. */
export function eventStreams(app: AppServices): EventStreams {
  const open = new Map<AgentId, number>()
  const waiting = new Map<AgentId, Set<Reader>>()

  const look = async () => {
    if (waiting.size === 0) return
    const newest = await lastSeqOf(app, [...waiting.keys()])
    for (const [agentId, readers] of waiting) {
      const seq = newest.get(agentId) ?? 0n
      for (const reader of readers) if (seq > reader.seen) reader.wake()
    }
  }
  let looking = false
  const timer = setInterval(async () => {
    if (looking) return
    looking = true
    await look().catch(() => undefined)
    looking = false
  }, LOOK_MS)
  timer.unref()

  const news = (agentId: AgentId, seen: bigint, signal: AbortSignal, quietMs: number) =>
    new Promise<'news' | 'quiet'>((resolve) => {
      const readers = waiting.get(agentId) ?? new Set()
      waiting.set(agentId, readers)
      const end = (why: 'news' | 'quiet') => {
        clearTimeout(quiet)
        signal.removeEventListener('abort', wake)
        readers.delete(reader)
        if (readers.size === 0) waiting.delete(agentId)
        resolve(why)
      }
      const wake = () => end('news')
      const reader = { seen, wake }
      const quiet = setTimeout(() => end('quiet'), quietMs)
      signal.addEventListener('abort', wake)
      readers.add(reader)
      if (signal.aborted) wake()
    })

  async function* read(agentId: AgentId, after: bigint, signal: AbortSignal, quietMs: number) {
    let seen = after
    while (!signal.aborted) {
      const events = await findEventsAfter(app, agentId, seen, BATCH)
      for (const event of events) {
        yield presentEvent(event)
        seen = event.seq
      }
      if (events.length > 0) continue
      if ((await news(agentId, seen, signal, quietMs)) === 'quiet') yield undefined
    }
  }

  return {
    open: async (partial) => {
      const call: Call = { ...partial, operation: operations.listEvents }
      let headers: Readonly<Record<string, string>> = {}
      try {
        const limited = await limit(app, call.operation, call.address)
        headers = limited.headers
        if (limited.apiError !== undefined) throw limited.apiError
        if (call.rejected !== undefined) throw call.rejected
        const { actor } = await identify(app, app.operators, call)
        authorize(call.operation, actor)
        const { after } = parse(call.operation, call.input) as { after: string }
        if (actor.kind !== 'agent') throw new Error('only agents are authorized here')
        const { agentId } = actor
        const count = open.get(agentId) ?? 0
        if (count >= STREAMS_PER_AGENT) throw tooMany()
        open.set(agentId, count + 1)
        return {
          headers,
          read: (signal, quietMs) => read(agentId, BigInt(after), signal, quietMs),
          close: () => leave(open, agentId),
        }
      } catch (error) {
        if (asApiError(error) === undefined) app.onFault(error, call)
        const failure = failureOf(error, call.requestId)
        return { ...failure, headers: { ...headers, ...failure.headers } }
      }
    },
    stop: () => clearInterval(timer),
  }
}

function leave(open: Map<AgentId, number>, agentId: AgentId): void {
  const left = (open.get(agentId) ?? 1) - 1
  if (left === 0) open.delete(agentId)
  else open.set(agentId, left)
}

const tooMany = (): ApiError =>
  new ApiError('rate_limited', `An agent may hold ${STREAMS_PER_AGENT} streams at once. Close one first.`, {
    code: 'too_many_streams',
    retryAfterSeconds: 5,
  })
