import type { Needs } from '@market/core/context'
import { OutboundFailure } from '@market/core/ports/outbound'
import type { WebhookSecrets } from '../agents/index.ts'
import { bodyOf, headersOf, type Message } from './message.ts'
import { type AttemptResult, TIMEOUT_MS } from './webhook-delivery.ts'

/** The owner sees the kind of failure, not the details of our network. */
const FAILURES = {
  forbidden: 'The endpoint resolves to an address that is not public',
  dns: 'The host name of the endpoint could not be resolved',
  connect: 'The connection to the endpoint failed',
  tls: 'The TLS certificate of the endpoint is not valid',
  timeout: 'The endpoint did not respond within 5 seconds',
  closed: 'The endpoint closed the connection without a response',
} as const

export interface WebhookResult extends AttemptResult {
  /** The beginning of the response body. */
  readonly responseBody: string | null
}

/** Sends one message once. It never throws: a network error is a failed attempt. */
export async function sendWebhook(
  ctx: Needs<'outbound' | 'clock'>,
  to: { readonly url: string; readonly secrets: WebhookSecrets },
  message: Message,
): Promise<WebhookResult> {
  const body = bodyOf(message)
  const headers = headersOf(message, body, to.secrets, ctx.clock.wallTime())
  try {
    const { status, body: responseBody } = await ctx.outbound.post({
      url: to.url,
      headers,
      body,
      timeoutMs: TIMEOUT_MS,
    })
    // Node's parser accepts three-digit statuses below 100, which are not HTTP and which the table does not store.
    if (status < 100) throw new OutboundFailure('closed', `The response has the invalid status ${status}.`)
    const failure = status >= 200 && status < 300 ? null : `The endpoint responded with status ${status}`
    return { at: ctx.clock.now(), responseStatus: status, failure, responseBody }
  } catch (error) {
    const failure =
      error instanceof OutboundFailure ? FAILURES[error.kind] : 'The endpoint could not be called'
    return { at: ctx.clock.now(), responseStatus: null, failure, responseBody: null }
  }
}
