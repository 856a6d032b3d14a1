import type { InputOf, Operation, ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import type { Context } from '@market/core/context'
import type { AppServices } from './app-services.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { IncomingFile } from './call.ts'
import type { Caller } from './caller.ts'

/** What a handler's `run` gets: the context of a command, the caller, settings, prices, swaps and the cache of catalog documents. */
export type HandlerContext = Context &
  Pick<
    AppServices,
    | 'documents'
    | 'listingCounts'
    | 'treasury'
    | 'uploadQuotas'
    | 'prices'
    | 'swaps'
    | 'wallets'
    | 'hasSolana'
    | 'walletMinimumLamports'
    | 'tokenSuffix'
    | 'creatorFeeWallet'
    | 'earnMarkets'
    | 'publicSettings'
    | 'registrationFee'
    | 'login'
    | 'receipts'
  > & {
    readonly caller: Caller
    /** How large the lists of the response may become. */
    readonly budget: ByteBudget
    readonly file?: IncomingFile | undefined
    /** Of the caller, its Idempotency-Key and the operation; absent without a key. */
    readonly keyDigest?: string | undefined
  }

/** What says who the caller is and what it owns. */
export type OwnerContext = Pick<
  HandlerContext,
  'actor' | 'caller' | 'db' | 'identity' | 'clock' | 'signatures'
>

/** The response, except that a list says what follows each of its rows: it can end before the last one. */
type Presented<Op extends Operation> = {
  [Field in keyof ResponseOf<Op>]: Field extends 'next_cursor'
    ? (count: number) => ResponseOf<Op>[Field]
    : ResponseOf<Op>[Field]
}

/**
 * `run` turns the contract's input into a command; `present` turns the command's result into the contract's
 * response. `present` is pure, because for a write it runs inside the transaction that stores the response.
 */
export interface Handler<Op extends Operation, Result> {
  readonly run: (ctx: HandlerContext, input: InputOf<Op>) => Promise<Result>
  readonly present: (result: Result, ctx: HandlerContext) => Presented<Op>
  /**
   * Waits for a later result after a write has been committed. The caller gets it; an Idempotency-Key has stored the
   * response as it was at the commit.
   */
  readonly afterCommit?: (ctx: HandlerContext, result: Result, input: InputOf<Op>) => Promise<Result>
  /** Rejects a repeated request whose file is not the one of the stored response. */
  readonly checkReplay?: (
    ctx: Pick<HandlerContext, 'db' | 'actor'>,
    file: IncomingFile | undefined,
    stored: unknown,
  ) => Promise<void>
}

type AnyResult = never

export type AnyHandler = {
  readonly run: (ctx: HandlerContext, input: never) => Promise<unknown>
  readonly present: (result: AnyResult, ctx: HandlerContext) => { readonly data: unknown }
  readonly afterCommit?: (ctx: HandlerContext, result: AnyResult, input: never) => Promise<unknown>
  readonly checkReplay?: (
    ctx: Pick<HandlerContext, 'db' | 'actor'>,
    file: IncomingFile | undefined,
    stored: unknown,
  ) => Promise<void>
}

/** Checks at compile time that a handler matches its operation. */
export function handler<Id extends keyof Operations, Result>(
  _id: Id,
  parts: Handler<Operations[Id], Result>,
): AnyHandler {
  return parts as unknown as AnyHandler
}
