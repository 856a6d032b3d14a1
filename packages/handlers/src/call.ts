import type { PaymentHeaders, WalletFields } from '@market/contract/client'
import type { Operation } from '@market/contract/define'
import type { Actor } from '@market/core/context'
import type { ReceivedFile } from '@market/files/uploads'
import type { ApiError } from '@market/kernel/api-error'
import type { ByteBudget } from './byte-budget.ts'
import type { Caller } from './caller.ts'

/** The credentials of a request as received, not verified yet. */
export interface Credentials {
  /** `Authorization: Bearer …`: an API key, an operator's key or an identity-provider token. */
  readonly bearer?: string
  /** An identity-provider token from the body. */
  readonly bodyToken?: string
  /** From the cookie of a same-site request: the token of a session, or an identity-provider token. */
  readonly cookieToken?: string
  readonly wallet?: WalletFields
}

/** What a request of an operation with `payment` has beside its input. */
export interface CallPayment extends PaymentHeaders {
  /** Fields of the query and of `X-Market-Brief`, which only a purchase reads. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A form with one file. Nothing of it is read before `receive`, so that only known callers send their files. */
export interface IncomingFile {
  receive(sender: Sender): Promise<ReceivedFile>
}

/** Who sends a file, for the limit of uploads at the same time. */
export interface Sender {
  readonly name: string
  /** Has bought or sold something that is paid. */
  readonly hasPaidOrder: boolean
}

/** One request for one operation, from any transport. */
export interface Call {
  readonly operation: Operation
  /** The flat input, not parsed yet, without the credentials that were in it. */
  readonly input: Readonly<Record<string, unknown>>
  readonly credentials: Credentials
  /** The caller, where the transport has verified the credential of several calls at once. */
  readonly caller?: Caller | undefined
  /** What limits count: the client's address, or the caller where several share an address. */
  readonly address: string
  /** The client's address, where `address` is the caller. */
  readonly client?: string | undefined
  readonly payment?: CallPayment
  /** Where the operation accepts a file, and the transport can send one. */
  readonly file?: IncomingFile
  readonly idempotencyKey?: string
  readonly requestId: string
  /** Told who calls, for the log, as soon as the credentials are verified. */
  readonly onCaller?: (actor: Actor) => void
  /** How large a list may become; by default as in REST. */
  readonly budget?: ByteBudget
  /** An error of the transport. The request counts against its limit, and then fails with it. */
  readonly rejected?: ApiError
}

export interface ApiResponse {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, where it was already made. */
  readonly json?: string | Buffer
  readonly headers: Readonly<Record<string, string>>
  /** Present when everybody gets this response: the tag of `json`, and for how long shared caches may serve it. */
  readonly shared?: { readonly etag: string; readonly seconds: number }
  /** The cookie of a browser's session that the response sets; without a token it is removed. */
  readonly cookie?: { readonly token?: string; readonly expiresAt?: Date }
}
