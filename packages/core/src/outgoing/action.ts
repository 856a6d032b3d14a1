import type { Tx } from '@market/database/transact'
import type { SignedTransfer } from '../ports/payout-sender.ts'
import type { NamedTransaction } from '../ports/transactions.ts'

/** What signs: an agent's server wallet, the wallet of a venue, or the treasury that publishes an anchor. */
export type ActionKind = 'wallet' | 'venue' | 'anchor'

/** One thing to do on a chain, at most once, whatever the database forgets. */
export interface Action {
  /** It is on the chain too: in the memo, or after the arguments of the call. */
  readonly id: string
  readonly kind: ActionKind
  readonly account: string
  /** When the account's key was made. Nothing of the account is older, and no earlier database epoch can have lost what it signed. */
  readonly key?: { readonly epoch: string; readonly madeAt: Date }
}

/** A transaction that was signed for an action, or that was found on the chain because the database had lost it. */
export interface Attempt extends SignedTransfer {
  /** The first is 1. */
  readonly n: number
  readonly account: string
  readonly createdAt: Date
}

/** Why an action is given up although nothing of it was executed. */
export interface Refusal<R> {
  readonly refused: R
}

export interface Signed<R> {
  readonly transaction: SignedTransfer
  /** Checks everything again and saves what depends on it, in the transaction that stores the bytes. False: not now. */
  authorize(tx: Tx): Promise<boolean | Refusal<R>>
}

/** What the caller of `advance` decides. */
export interface Rules<R> {
  /** Whether nothing may be signed or sent now. What is on the chain is still observed. */
  isStopped(): Promise<boolean>
  /** Checks and signs. `replaced` are the transactions at the same nonce that the new one must outbid. */
  sign(place: Place): Promise<Signed<R> | Refusal<R>>
  /** Whether an action that failed on the chain is tried again now. */
  mayRepeat?(newest: Attempt): boolean
  readonly maxAttempts?: number
  /** Called with what the account sent and the database did not know, in the transaction that records it. */
  onLost?(tx: Tx, lost: readonly NamedTransaction[]): Promise<void>
}

/** What a new transaction follows. */
export interface Place {
  readonly n: number
  /** Null where transactions expire. */
  readonly nonce: bigint | null
  readonly replaced: readonly Attempt[]
}

/** What was known when an action was found to have ended. */
export interface Known {
  readonly attempts: number
  readonly epoch: string
}

/** What `advance` found or did. Only `final`, `failed`, `expired` and `refused` end an action. */
export type Progress<R> =
  | { readonly kind: 'final'; readonly reference: string; readonly account: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly known: Known }
  /** So many attempts expired. */
  | { readonly kind: 'expired'; readonly known: Known }
  | { readonly kind: 'refused'; readonly reason: R; readonly known: Known }
  /** Nothing that is signed can be executed any more, and nothing may be signed now. */
  | { readonly kind: 'stopped'; readonly known: Known }
  /** Sent, or in a block that is not final. */
  | { readonly kind: 'under_way' }
  /** What an earlier database epoch may have signed is not known yet. */
  | { readonly kind: 'not_compared' }
