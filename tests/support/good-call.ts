import type { Operation } from '@market/contract/define'
import type { Ask, Reply } from './client.ts'
import type { Market } from './market.ts'

/** One call as it goes over the wire; without a method it is the operation's own. */
export interface GoodCall {
  readonly path: string
  readonly method?: string
  readonly body?: unknown
  readonly ask?: Ask
}

/** An operation and how to call it well; every error is then one thing made wrong in a call that was right. */
export interface Subject {
  readonly market: () => Market
  readonly operation: Operation
  /** A call that succeeds, with everything it needs made afresh. */
  readonly good: () => Promise<GoodCall>
}

export function send({ market, operation }: Subject, call: GoodCall, more: Ask = {}): Promise<Reply> {
  const ask: Ask = {
    ...(call.body !== undefined && { body: call.body }),
    ...call.ask,
    ...more,
    headers: { ...call.ask?.headers, ...more.headers },
  }
  return market()
    .client()
    .send(call.method ?? operation.method, call.path, ask)
}

export const successOf = (operation: Operation): number => operation.status ?? 200

/** Whether the response is a success; without a payment, a purchase is served with 402. */
export const isServed = (operation: Operation, status: number): boolean =>
  status < 300 || (status === 402 && operation.payment?.when === 'always')
