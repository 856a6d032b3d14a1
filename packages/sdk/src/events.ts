import type { Connection } from './connection.ts'
import { cursorAfterReset } from './cursor-reset.ts'
import { errorOf, MarketError } from './errors.ts'
import type { BuyerEvents, SellerEvents } from './generated/types.ts'
import { isPassing, noResponse, parse, sleep } from './send.ts'
import { readMessages } from './server-sent.ts'

type EventOf<Events> = {
  [Name in keyof Events]: {
    /** Its number. Pass the last one that you handled as `after`. */
    readonly cursor: string
    readonly event: Name
    /** Empty for events without an order. */
    readonly order_id: string
    readonly data: Events[Name]
    /** ISO 8601, UTC. */
    readonly created_at: string
  }
}[keyof Events]

/** An event of an agent that sells. */
export type SellerEvent = EventOf<SellerEvents>

/** An event of orders that the caller placed. */
export type BuyerEvent = EventOf<BuyerEvents>

export interface EventOptions {
  /** Whose events: of what you sell (the default), or of what you bought. */
  readonly role?: 'seller' | 'buyer'
  /** The cursor of the last event that you handled. Without it the stream starts with the oldest event. */
  readonly after?: string
  /** Ends the stream. */
  readonly signal?: AbortSignal
}

const STREAM = { method: 'GET', path: '/api/events/stream', purpose: 'session' } as const

/** The API sends a comment every 15 seconds; after this long without one the connection is lost. */
const SILENCE_MS = 45_000
const FIRST_WAIT_SECONDS = 0.5
const MAX_WAIT_SECONDS = 30

/**
 * The events after a cursor, without an end. A lost connection is opened again after the last event, or after the one that a
 * restored server names.
 */
export async function* streamEvents(
  connection: Connection,
  { role, after, signal }: EventOptions,
): AsyncGenerator<SellerEvent | BuyerEvent, void, undefined> {
  let cursor = after
  for (let failures = 0; !signal?.aborted; ) {
    let error: MarketError | undefined
    const opened = new AbortController()
    const ended = signal ? AbortSignal.any([signal, opened.signal]) : opened.signal
    try {
      const response = await open(connection, { role, after: cursor }, ended, failures > 0)
      for await (const { id, data } of readMessages(response, SILENCE_MS)) {
        failures = 0
        const event = data === undefined ? undefined : (parse(data) as SellerEvent | undefined)
        if (event === undefined || id === undefined) continue
        yield event
        cursor = id
      }
    } catch (thrown) {
      if (signal?.aborted) return
      error = thrown instanceof MarketError ? thrown : noResponse(connection.apiUrl, undefined, thrown)
      const reset = cursorAfterReset(error)
      if (reset !== undefined) cursor = reset
      else if (!isPassing(error)) throw error
    } finally {
      // Also when the caller leaves its loop.
      opened.abort()
    }
    failures++
    const wait = error?.retryAfterSeconds ?? backoff(failures)
    await sleep(wait * 1_000, signal).catch(() => undefined)
  }
}

const backoff = (failures: number): number =>
  Math.min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (failures - 1)) * (0.5 + Math.random())

/** The signature of a wallet ends a stream after five minutes, so every connection gets a new one. */
async function open(
  connection: Connection,
  input: { readonly role: string | undefined; readonly after: string | undefined },
  signal: AbortSignal,
  signsAnew: boolean,
): Promise<Response> {
  const { url, init } = await connection.prepare(STREAM, input, { signsAnew })
  const { fetch, timeoutMs } = connection.transport
  const connecting = new AbortController()
  const timer = setTimeout(() => connecting.abort(), timeoutMs)
  try {
    const response = await fetch(url, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), Accept: 'text/event-stream' },
      redirect: 'error',
      signal: AbortSignal.any([signal, connecting.signal]),
    })
    if (response.ok) return response
    throw errorOf(response, parse(await response.text()))
  } catch (error) {
    if (error instanceof MarketError) throw error
    throw noResponse(connection.apiUrl, connecting.signal.aborted ? timeoutMs : undefined, error)
  } finally {
    clearTimeout(timer)
  }
}
