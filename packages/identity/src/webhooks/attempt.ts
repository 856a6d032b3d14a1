import type { Needs } from '@market/core/context'
import { OutboundFailure } from '@market/core/ports/outbound'
import { type Outcome, TIMEOUT_MS } from './delivery.ts'
import { bodyOf, headersOf, type Message } from './message.ts'

/** What an owner is told of a failure: the kind of it, never what our side saw of the network. */
const FAILURES = {
  forbidden: 'The endpoint leads to an address that is not public',
  dns: 'The endpoint’s name could not be resolved',
  connect: 'No connection could be made',
  tls: 'The certificate was not accepted',
  timeout: 'There was no answer within 5 seconds',
  closed: 'The connection was closed before an answer',
} as const

export interface Attempted extends Outcome {
  /** The beginning of what came back, for the author of an endpoint. */
  readonly answer: string | null
}

/** Sends one message once. It never throws: whatever happens out there is an outcome. */
export async function attempt(
  ctx: Needs<'outbound' | 'clock'>,
  to: { url: string; secret: string | null },
  message: Message,
): Promise<Attempted> {
  const body = bodyOf(message)
  const headers = headersOf(message, body, to.secret, ctx.clock.now())
  try {
    const { status, body: answer } = await ctx.outbound.post({
      url: to.url,
      headers,
      body,
      timeoutMs: TIMEOUT_MS,
    })
    // Node's parser lets three digits below 100 pass; such a status is no answer and has no place in the log.
    if (status < 100) throw new OutboundFailure('closed', 'The answer was no HTTP.')
    const failure = status >= 200 && status < 300 ? null : `The endpoint answered ${status}`
    return { at: ctx.clock.now(), responseStatus: status, failure, answer }
  } catch (error) {
    const failure =
      error instanceof OutboundFailure ? FAILURES[error.kind] : 'The endpoint could not be called'
    return { at: ctx.clock.now(), responseStatus: null, failure, answer: null }
  }
}
