import type { Operation } from '@market/contract/define'
import type { Reply, RequestOptions } from './client.ts'
import type { Market } from './market.ts'

/** One request; the method is the operation's by default. */
export interface ValidRequest {
  readonly path: string
  readonly method?: string
  readonly body?: unknown
  readonly ask?: RequestOptions
}

/** An operation and a valid request for it. Each error test changes one part of the valid request. */
export interface Subject {
  readonly market: () => Market
  readonly operation: Operation
  /** Creates what the request needs and returns a request that succeeds. */
  readonly good: () => Promise<ValidRequest>
  /** The status of that request, where it is not the operation's first. */
  readonly success?: number
}

/** A signature in a request is valid for 5 minutes. */
const REPEATED_FOR_MS = 60_000

/** Repeats one request: what is rejected changes nothing, so the same request can be rejected again. */
export function withOneRequest(subject: Subject): Subject {
  let last: { readonly made: Promise<ValidRequest>; readonly at: number } | undefined
  return {
    ...subject,
    good: () => {
      if (last === undefined || Date.now() - last.at > REPEATED_FOR_MS)
        last = { made: subject.good(), at: Date.now() }
      return last.made
    },
  }
}

export function send(
  { market, operation }: Subject,
  call: ValidRequest,
  more: RequestOptions = {},
): Promise<Reply> {
  const ask: RequestOptions = {
    ...(call.body !== undefined && { body: call.body }),
    ...call.ask,
    ...more,
    headers: { ...call.ask?.headers, ...more.headers },
  }
  return market()
    .client()
    .send(call.method ?? operation.method, call.path, ask)
}

export const successOf = ({ operation, success }: Subject): number => success ?? operation.status ?? 200

/** Operations that need a service which the tests of the whole contract do not configure. Their response is 503. */
const NOT_CONFIGURED: ReadonlySet<string> = new Set([
  'orderSwap',
  'executeSwap',
  'listEarnMarkets',
  'listEarnPools',
  'depositToEarn',
  'withdrawFromEarn',
])

/** Whether the operation responds with 503, because its service is not configured. */
export const isNotConfigured = ({ id }: Operation, status: number): boolean =>
  status === 503 && NOT_CONFIGURED.has(id)

/** Whether the request got as far as it can: a purchase without a payment and an agent’s empty wallet are served with 402. */
export const isServed = (operation: Operation, status: number): boolean =>
  status < 300 ||
  (status === 402 &&
    (operation.payment === undefined
      ? operation.errors?.[402] !== undefined
      : operation.payment.when === 'always')) ||
  isNotConfigured(operation, status)
