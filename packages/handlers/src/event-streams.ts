import type { InputOf } from '@market/contract/define'
import { operations } from '@market/contract/operations'
import { type Actor, nameOf } from '@market/core/context'
import { type EventReader, findLastSeqs } from '@market/core/events'
import type { IdentityProfile, IdentityProvider } from '@market/core/ports/identity'
import { SIGNATURE_MAX_AGE_MS } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import { later, MINUTE, SECOND } from '@market/kernel/clock'
import { ttlCache } from '@market/kernel/ttl-cache'
import type { AppServices } from './app-services.ts'
import { authorize } from './authorize.ts'
import type { ApiResponse, Call } from './call.ts'
import { withSignatureBudget } from './chain-budget.ts'
import { eventReaderOf, readEvents } from './event-reader.ts'
import { presentEvent } from './events.ts'
import { asApiError, failureOf } from './failure.ts'
import { identify } from './identify.ts'
import { limit } from './limit.ts'
import { networksOf, SHARES } from './networks.ts'
import { parse } from './parse.ts'
import { logSecurityEvent, rejectedEvent } from './security-events.ts'

/** A client needs one stream, and a second while it replaces the first. */
const STREAMS_PER_CALLER = 5
/** Agents are free, and each open stream is asked for by a poll. */
const STREAMS_PER_ADDRESS = 60
const POLL_MS = 250
const BATCH = 100
/** How long the provider's answer counts for the open streams of a session, whose owner it names. */
const PROFILE_MS = MINUTE
const MAX_PROFILES = 10_000

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

/** A stream that waits for an event after its last one. Two streams of a reader may be at different numbers. */
interface Waiting {
  readonly lastSeq: bigint
  readonly wake: () => void
}

/** An open stream: who reads whose events, by which request. */
interface Opened {
  readonly call: Call
  readonly actor: Actor
  readonly reader: EventReader
  readonly whose: Pick<InputOf<typeof operations.listEvents>, 'role' | 'agent_id'>
}

/** All streams of a process share one polling query for agents and one for buyers. */
export function eventStreams(app: AppServices): EventStreams {
  const openCounts = new Map<string, number>()
  const waiting: { readonly [Kind in EventReader['kind']]: Map<string, Set<Waiting>> } = {
    agent: new Map(),
    buyer: new Map(),
  }

  const poll = async (kind: EventReader['kind']) => {
    const byKey = waiting[kind]
    if (byKey.size === 0) return
    const newest = await findLastSeqs(app.db, kind, [...byKey.keys()])
    for (const [key, streams] of byKey) {
      const seq = newest.get(key) ?? 0n
      for (const stream of streams) if (seq > stream.lastSeq) stream.wake()
    }
  }
  let polling = false
  const timer = setInterval(async () => {
    if (polling) return
    polling = true
    await poll('agent').catch(() => undefined)
    await poll('buyer').catch(() => undefined)
    polling = false
  }, POLL_MS)
  timer.unref()

  const nextEvent = ({ kind, key }: EventReader, lastSeq: bigint, signal: AbortSignal, idleMs: number) =>
    new Promise<'woken' | 'idle'>((resolve) => {
      const streams = waiting[kind].get(key) ?? new Set()
      waiting[kind].set(key, streams)
      const end = (reason: 'woken' | 'idle') => {
        clearTimeout(timeout)
        signal.removeEventListener('abort', wake)
        streams.delete(stream)
        if (streams.size === 0) waiting[kind].delete(key)
        resolve(reason)
      }
      const wake = () => end('woken')
      const stream = { lastSeq, wake }
      const timeout = setTimeout(() => end('idle'), idleMs)
      signal.addEventListener('abort', wake)
      streams.add(stream)
      if (signal.aborted) wake()
    })

  const profiles = ttlCache<IdentityProfile>(PROFILE_MS, {
    size: MAX_PROFILES,
    clock: () => app.clock.wallTime().getTime(),
  })
  /** Streams are checked often, so all streams of a session share one profile a minute. */
  const sharedProfiles = (actor: Actor): IdentityProvider => ({
    ...app.identity,
    fetchProfile: (token) =>
      // fix: profile-of-streams
      profiles(`${nameOf(actor)} ${actor.credential?.id}`, () => app.identity.fetchProfile(token)),
  })

  /**
   * A key that was replaced, a token that has expired and a session that ended get nothing more, also on a stream that they opened before. A
   * wallet's signature is not verified again, which for a smart wallet would query a node each time: it only expires.
   */
  const isStillValid = ({ call, actor, whose }: Opened): Promise<boolean> => {
    if (actor.kind === 'wallet' && call.credentials.wallet !== undefined)
      return Promise.resolve(isFresh(call, app.clock.wallTime()))
    return identify(app, app.operators, call)
      .then(async (caller) => {
        if (nameOf(caller.actor) !== nameOf(actor)) return false
        // Whoever owned the agent when the stream began must own it still.
        const identity = sharedProfiles(caller.actor)
        await eventReaderOf({ ...app, identity, actor: caller.actor, caller }, whose)
        return true
      })
      .catch((error: unknown) => {
        const kind = asApiError(error)?.kind
        if (kind === 'unauthenticated' || kind === 'forbidden') return false
        throw error
      })
  }

  async function* read(opened: Opened, after: bigint, signal: AbortSignal, idleMs: number) {
    const { actor, reader } = opened
    let lastSeq = after
    while (!signal.aborted) {
      const found = await readEvents({ db: app.db, actor }, reader, lastSeq, BATCH).catch(undefinedAfterReset)
      // The client reconnects, and is told where to continue.
      if (found === undefined) return
      if (found.events.length > 0 && !(await isStillValid(opened))) return
      for (const event of found.events) yield presentEvent(event)
      const isNew = found.lastSeq > lastSeq
      lastSeq = found.lastSeq
      if (isNew) continue
      // The poll of all streams says when to read again: thousands of pages that wait cost one query.
      while ((await nextEvent(reader, lastSeq, signal, idleMs)) === 'idle') {
        if (!(await isStillValid(opened))) return
        yield undefined
      }
    }
  }

  return {
    open: async (partial) => {
      const call: Call = { ...partial, operation: operations.listEvents }
      let headers: Readonly<Record<string, string>> = {}
      let caller: Actor | undefined
      try {
        const limited = await limit(app, call.operation, call)
        headers = limited.headers
        if (limited.apiError !== undefined) throw limited.apiError
        if (call.rejected !== undefined) throw call.rejected
        const identified = await identify(withSignatureBudget(app, call), app.operators, call)
        const { actor } = identified
        caller = actor
        const name = nameOf(actor)
        call.onCaller?.(actor)
        authorize(call.operation, actor)
        const {
          after,
          limit: _,
          ...whose
        } = parse(call.operation, call.input) as InputOf<typeof operations.listEvents>
        const reader = await eventReaderOf({ ...app, actor, caller: identified }, whose)
        await readEvents({ db: app.db, actor }, reader, BigInt(after), 1)
        const counted = streamCountsOf(name, call.address)
        const full = counted.find(({ key, max }) => (openCounts.get(key) ?? 0) >= max)
        if (full !== undefined) throw tooManyStreams(full, app.clock.wallTime())
        for (const { key } of counted) openCounts.set(key, (openCounts.get(key) ?? 0) + 1)
        return {
          headers,
          read: (signal, idleMs) => read({ call, actor, reader, whose }, BigInt(after), signal, idleMs),
          close: () => {
            for (const { key } of counted) decrement(openCounts, key)
          },
        }
      } catch (error) {
        if (asApiError(error) === undefined) app.onFault(error, call)
        logSecurityEvent(app, rejectedEvent(call, caller, error))
        const failure = failureOf(error, call.requestId)
        return { ...failure, headers: { ...headers, ...failure.headers } }
      }
    },
    stop: () => clearInterval(timer),
  }
}

function undefinedAfterReset(error: unknown): undefined {
  if (asApiError(error)?.extra.code !== 'cursor_reset') throw error
}

interface StreamCount {
  readonly key: string
  readonly max: number
  readonly of: string
}

/** For whom an open stream counts: its caller, its address and the networks of that. */
const streamCountsOf = (name: string, address: string): readonly StreamCount[] => [
  { key: name, max: STREAMS_PER_CALLER, of: 'This caller' },
  // fix: streams-of-networks
  ...networksOf(address).map(({ kind, subject }) => ({
    key: `network ${subject}`,
    max: STREAMS_PER_ADDRESS * SHARES.address[kind],
    of: 'Your network',
  })),
]

/** Whether the signature that opened the stream has not expired. */
const isFresh = ({ credentials }: Call, now: Date): boolean =>
  now.getTime() - Number(credentials.wallet?.signedAtMs) <= SIGNATURE_MAX_AGE_MS

function decrement(counts: Map<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1
  if (left === 0) counts.delete(name)
  else counts.set(name, left)
}

/** An open stream may end at any time, so the client tries again soon. */
const STREAM_RETRY_SECONDS = 5

const tooManyStreams = ({ of, max }: StreamCount, now: Date): ApiError =>
  new ApiError('rate_limited', `${of} already has ${max} open streams, the maximum. Close one first.`, {
    code: 'too_many_streams',
    retryAfterSeconds: STREAM_RETRY_SECONDS,
    limit: { max, resetsAt: later(now, STREAM_RETRY_SECONDS * SECOND) },
  })
