import type { Network } from '@market/kernel/network'
import type { PayoutOutcome, SignedTransfer } from './payout-sender.ts'

interface Sender {
  readonly network: Network
  /** Broadcasts the transaction. After an error the outcome is unknown: it may still be executed. */
  send(signed: SignedTransfer): Promise<void>
  /** The outcome over all signed transactions of one action. On EVM they have one nonce. */
  observe(signed: readonly SignedTransfer[]): Promise<PayoutOutcome>
}

/** Sends transactions that expire: Solana. A new one is safe only when every earlier one, known or lost, has expired. */
export interface ExpiringRail extends Sender {
  readonly lock: 'expiry'
  /** The newest final height: the lowest that any node shows. */
  finalHeight(): Promise<bigint>
  /** The height after which nothing that is signed until now can be executed. */
  horizon(): Promise<bigint>
  /**
   * The final transaction of the account that carries the id of an action and succeeded, since a time. All providers that respond
   * must agree. Undefined on the rail when a second transaction of an action harms nobody.
   */
  readonly find: ((account: string, actionId: string, since: Date) => Promise<string | undefined>) | undefined
}

/** How many transactions of an account are executed. */
export interface NonceCounts {
  /** Up to the final block: the fewest that any provider shows. */
  readonly final: bigint
  /** In any block. */
  readonly mined: bigint
  /** The height of the final block: the lowest that any provider shows. */
  readonly height: bigint
}

/** A final transaction of an account, with the id of the action that it carries, if any. */
export interface NamedTransaction {
  /** Null when only the count of transactions shows it. */
  readonly reference: string | null
  readonly nonce: bigint
  readonly actionId: string | null
}

/** Sends transactions that exclude each other by the nonce of an account with one action at a time: the wallets of venues. */
export interface NonceRail extends Sender {
  readonly lock: 'nonce'
  counts(account: string): Promise<NonceCounts>
  /** What the account sent in these blocks, as all providers that respond show it. Transactions without a log are not among it. */
  sentBetween(account: string, from: bigint, to: bigint): Promise<readonly NamedTransaction[]>
}

export type Rail = ExpiringRail | NonceRail
