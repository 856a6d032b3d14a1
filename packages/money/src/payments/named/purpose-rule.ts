import type { Actor, Needs } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import type { Depth, IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import type { ApiError } from '@market/kernel/api-error'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Failure, Intent } from '../intents/intent.ts'
import type { Purpose, PurposeKind } from '../purpose.ts'
import type { ClaimedTransfer } from '../transfer.ts'

/** A transaction that a caller names. Its reference is normalized. */
export interface NamedTransaction {
  readonly network: Network
  readonly reference: string
}

/** A request to pay for something with a transfer that was made. */
export interface NamingRequest<Wanted extends NamedTransaction = NamedTransaction> {
  readonly actor: Actor
  readonly wanted: Wanted
  /** Of the API key that the request was authenticated with. */
  readonly keyHint?: string | undefined
}

/** A request with what the chain said about its transaction. */
export interface Naming extends NamedTransaction {
  readonly actor: Actor
  /** The wallets that may have paid. */
  readonly payers: readonly string[]
  /** The transfer, undefined while it is not confirmed or nothing is due, or why it cannot pay. */
  readonly transfer: IncomingTransfer | ApiError | undefined
  readonly depth: Depth | null
  /** The only payer has signed this payment, and we submit it. */
  readonly isSigned?: true
}

/** The transaction was named for this before: the request leads to the same result. */
export class NamedBefore<Target> {
  readonly result: (tx: Tx) => Promise<Target>
  constructor(result: (tx: Tx) => Promise<Target>) {
    this.result = result
  }
}

/** What a request is about, before the chain is asked. */
export interface Begun<Target> {
  readonly target: Target
  /** Proven wallets besides the caller's. */
  readonly payers?: readonly string[]
  /** Locks the target and reads it again. */
  readonly lock: (tx: Tx) => Promise<Target | NamedBefore<Target>>
}

/** A confirmed transfer. `naming` is absent when it was named before and waited for. */
export interface Paid {
  readonly network: Network
  readonly transfer: IncomingTransfer
  readonly naming?: Naming | undefined
}

type PaidContext = Needs<'clock' | 'ids' | 'chains' | 'vault'>
type Changes = Needs<'clock' | 'ids'>

/**
 * What differs between the things that are paid for with a named transfer: `nameTransfer` is the command of all of them,
 * and `intentHandler` what the worker does with a transfer that was waited for. A target is what is paid for.
 */
export interface PurposeRule<
  Kind extends PurposeKind,
  Wanted extends NamedTransaction,
  Target,
  Ctx extends object = object,
> {
  readonly purposeOf: (target: Target) => Extract<Purpose, { kind: Kind }>
  readonly due: (target: Target) => Usdc
  /** A transfer that was made before cannot pay. */
  readonly notBefore: (target: Target) => Date
  /** Who gets the transfer when it is taken back from another purchase. */
  readonly buyerOf: (target: Target) => Buyer
  /** False: no transfer pays it now, so that the chain is not asked. */
  readonly isPayable?: (target: Target) => boolean
  /** What is stored with every naming: the scope in which a transaction is named once, and what was asked for. */
  readonly stored?: (target: Target) => { readonly scope: string; readonly request: object | null }

  /** Reads what the caller wants to pay for, and rejects who may not. No transaction is open. */
  readonly begin: (
    ctx: Needs<'db' | 'clock' | 'ids'> & Ctx,
    request: NamingRequest<Wanted>,
  ) => Promise<Begun<Target> | NamedBefore<Target>>
  /** Locks what a payment is waited for; undefined when it does not wait for this one any more. */
  readonly lock: (tx: Tx, intent: Intent) => Promise<Target | undefined>
  /** Why nothing can be paid any more, when the transfer is taken all the same and refunded. */
  readonly late?: (
    target: Target,
    paid: Pick<Naming, 'payers' | 'transfer'>,
    isWaited: boolean,
  ) => ApiError | undefined
  /** Throws why the transfer cannot pay. It stays unused. */
  readonly check?: (
    ctx: Changes,
    tx: Tx,
    target: Target,
    paid: Pick<Naming, 'network' | 'reference' | 'transfer'>,
    naming: Naming | undefined,
  ) => Promise<Target>
  readonly underpaid?: (due: Usdc, paid: Usdc) => ApiError
  /** Saves what a naming changes. Its transfer is not used yet, and undefined while it is not confirmed. */
  readonly onNamed?: (
    ctx: Changes,
    tx: Tx,
    target: Target,
    naming: Naming,
    transfer: IncomingTransfer | undefined,
  ) => Promise<Target>
  /** Claims the transfer, and returns what it brought above the amount due. */
  readonly onPaid: (ctx: PaidContext, tx: Tx, target: Target, paid: Paid) => Promise<Target>
  /** Claims the transfer and refunds it. */
  readonly onLate?: (ctx: PaidContext, tx: Tx, target: Target, paid: Paid, why: ApiError) => Promise<void>
  readonly onFailed: (
    ctx: Changes,
    tx: Tx,
    target: Target,
    failure: Failure,
    named: NamedTransaction,
  ) => Promise<void>
  readonly onReversed: (ctx: Changes, tx: Tx, transfer: ClaimedTransfer<Kind>) => Promise<void>
}
