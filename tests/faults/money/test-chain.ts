import type { Network } from '@market/kernel/network'

/** A transfer whose bytes are signed: they can be sent any number of times, and again after a reorganisation. */
export interface Prepared {
  readonly network: Network
  readonly reference: string
  readonly amount: bigint
  send(): Promise<void>
}

/** A funded wallet. */
export interface Buyer {
  readonly address: string
  /** As the ledger stores it. */
  readonly key: string
  sign(message: string): Promise<string>
  /** Networks on which it holds money, and can pay. */
  readonly networks: readonly Network[]
  prepare(network: Network, to: string, amount: bigint): Promise<Prepared>
  /** What an unmodified client of x402 sends in `PAYMENT-SIGNATURE` for a 402 with this `PAYMENT-REQUIRED`. */
  authorize(network: Network, required: string): Promise<string>
}

/** What each buyer holds at first, on each of its networks. */
export const INITIAL_BALANCE = 1_000_000_000n

/** A real local chain. */
export interface TestChain {
  readonly network: Network
  readonly kind: 'evm' | 'solana'
  /** The node itself: the test asks it directly, whatever its relays do. */
  readonly url: string
  /** An account with coin for fees: a treasury, or one that pays the gas for buyers. */
  newAccount(): Promise<{ readonly address: string; readonly key: string }>
  balanceOf(owner: string): Promise<bigint>
  /** Whether a transfer is on the chain and moved money. */
  isMined(reference: string): Promise<boolean>
  stop(): Promise<void>
  /** Its next blocks are later by this time. Solana counts slots. */
  passTime?(seconds: number): Promise<unknown>
}
