import type { Operation } from '@market/contract/define'
import type { ApiError } from '@market/kernel/api-error'

export interface WalletFields {
  readonly wallet: unknown
  readonly signature: unknown
  readonly signedAtMs: unknown
  readonly chain: unknown
}

/** What a caller showed, as it arrived; nothing in it has been believed yet. */
export interface Credentials {
  /** `Authorization: Bearer …`: an API key, an operator's key or an identity-provider token. */
  readonly bearer?: string
  /** An identity-provider token from the body. */
  readonly bodyToken?: string
  /** An identity-provider token from a cookie of a same-site request. */
  readonly cookieToken?: string
  readonly wallet?: WalletFields
}

/** One request for one operation, from whichever edge. */
export interface Call {
  readonly operation: Operation
  /** The flat input, not yet parsed, without the credentials that travelled in it. */
  readonly input: Readonly<Record<string, unknown>>
  readonly credentials: Credentials
  /** The client's address as limits count it. */
  readonly address: string
  readonly idempotencyKey?: string
  readonly requestId: string
  /** What the edge itself found wrong: the call is counted like any other, and then rejected. */
  readonly rejected?: ApiError
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}
