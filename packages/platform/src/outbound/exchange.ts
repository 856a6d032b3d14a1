import type { IncomingMessage } from 'node:http'
import { request as openRequest } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { OutboundFailure, type OutboundRequest, type OutboundResponse } from '@market/core/ports/outbound'

const readAtMost = async (answer: IncomingMessage, limit: number): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, limit - size))
    size += chunk.length
    if (size >= limit) break
  }
  // Streaming mode omits a character that was cut at the limit.
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: size >= limit })
}

const closed = (cause?: unknown): OutboundFailure => {
  const failure = new OutboundFailure('closed', 'The connection ended before the response was complete.')
  if (cause !== undefined) failure.cause = cause
  return failure
}

/** Below the idle timeout of common servers that do not announce theirs: 2 s is the shortest default we know of. */
const UNANNOUNCED_IDLE_MS = 1_000
const MAX_IDLE_MS = 10_000
/** A request must not be on its way when the server closes the connection. */
const IDLE_MARGIN_MS = 1_000

/** How long the server keeps the connection open, by its `Keep-Alive: timeout=` header. */
const idleMsOf = (answer: IncomingMessage): number => {
  const seconds = /\btimeout=(\d+)/.exec(String(answer.headers['keep-alive'] ?? ''))?.[1]
  if (seconds === undefined) return UNANNOUNCED_IDLE_MS
  return Math.min(Number(seconds) * 1_000 - IDLE_MARGIN_MS, MAX_IDLE_MS)
}

/** Whether both sides agreed to keep the connection. */
const isKept = (answer: IncomingMessage): boolean =>
  answer.complete && !/\bclose\b/i.test(answer.headers.connection ?? '') && idleMsOf(answer) > 0

/** A response can be complete before Node knows that its request was written. A server that reads it takes milliseconds. */
const WRITTEN_WITHIN_MS = 1_000

export interface Exchanged {
  readonly answer: OutboundResponse
  /** How long the connection may be kept for another request; 0 when it cannot be used again. */
  readonly idleMs: Promise<number>
}

export interface RequestWithMethod extends OutboundRequest {
  readonly method: 'GET' | 'POST'
}

/** One request over a connection that is already open; no agent, so no pool, proxy setting or redirect plays a part. */
export const exchange = async (
  secure: TLSSocket,
  url: URL,
  request: RequestWithMethod,
  maxAnswerBytes: number,
): Promise<Exchanged> => {
  const outgoing = openRequest({
    createConnection: () => secure,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...request.headers,
      host: url.host,
      connection: 'keep-alive',
      ...(request.method === 'POST' && { 'content-length': Buffer.byteLength(request.body) }),
    },
  })
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { promise: freed, resolve: settle } = Promise.withResolvers<boolean>()
  const free = () => settle(true)
  // Node emits this when request and response are complete and both sides agreed to keep the connection.
  secure.once('free', free)
  const leave = (isFree: boolean) => {
    secure.off('free', free)
    if (!isFree) outgoing.destroy()
  }
  outgoing.once('response', resolve)
  outgoing.on('error', (error) => reject(closed(error)))
  outgoing.once('close', () => reject(closed()))
  outgoing.end(request.body)
  try {
    const answer = await answered
    const body = await readAtMost(answer, maxAnswerBytes).catch((error: unknown) => {
      throw closed(error)
    })
    // fix: written-late
    const timer = setTimeout(settle, isKept(answer) ? WRITTEN_WITHIN_MS : 0, false)
    const idleMs = freed.then((isFree) => {
      clearTimeout(timer)
      leave(isFree)
      return isFree && isKept(answer) ? idleMsOf(answer) : 0
    })
    return { answer: { status: answer.statusCode ?? 0, body }, idleMs }
  } catch (error) {
    leave(false)
    throw error
  }
}
