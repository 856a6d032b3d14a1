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

/** Whether the response is a success; without a payment, a purchase is served with 402, as is an agent’s empty wallet. */
export const isServed = ({ payment, errors }: Operation, status: number): boolean =>
  status < 300 ||
  (status === 402 && (payment === undefined ? errors?.includes(402) === true : payment.when === 'always'))
