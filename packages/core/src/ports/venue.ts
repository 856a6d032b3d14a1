import type { Usdc } from '@market/kernel/money'
import type { SignedTransfer } from './payout-sender.ts'
import type { NonceRail } from './transactions.ts'

/** A market of a venue, as the operators configured it: a vault that takes USDC and earns with it. */
export interface VenueMarket {
  /** `venue:market`. */
  readonly key: string
  readonly venue: string
  readonly market: string
  readonly kind: 'lending' | 'liquidity_provision'
  readonly label: string
  readonly network: 'base-mainnet' | 'alt-mainnet'
  /** The ERC-4626 contract, in lower case. */
  readonly vault: string
}

/** What a venue shows now. Its own promises count as little as possible: a redemption is simulated. */
export interface VenueReading {
  /** What the vault would pay for the shares, after its fees, rounded down. */
  readonly value: Usdc
  /** How much of that it would pay out at once. */
  readonly liquid: Usdc
  /** Everything that the vault manages, for all its depositors. */
  readonly tvl: Usdc
  /** Micro-USDC for 10^6 whole shares. */
  readonly price: bigint
  readonly acceptsDeposits: boolean
  /** False when a redemption pays less than the vault says that it would. */
  readonly isHonest: boolean
}

export type VenueStep = 'approve' | 'deposit' | 'withdraw' | 'return'

/** One transaction of the wallet. `withdraw` and `return` pay to the treasury. */
export interface VenueCall {
  readonly step: VenueStep
  readonly amount: Usdc
  /** Follows the arguments of the call, so that the transaction is found again. */
  readonly actionId: string
}

/** What a transaction really did, from the vault's event in its receipt. */
export interface VenueReceipt {
  readonly assets: Usdc
  readonly shares: bigint
}

/** One market, and the wallet that holds its shares. Only the worker has one. */
export interface Venue extends NonceRail {
  readonly market: VenueMarket
  /** In lower case. One wallet per network, for nothing else. */
  readonly wallet: string
  /** Throws `unavailable` when too few providers show the venue, or they contradict each other. */
  read(shares: bigint): Promise<VenueReading>
  /** What the vault would pay for each of these amounts of shares, all at the same block. Agreed like `read`. */
  valuesOf(shares: readonly bigint[]): Promise<readonly Usdc[]>
  /** How much of an amount the vault would pay out now, by simulation. */
  withdrawable(amount: Usdc): Promise<Usdc>
  /** Why the vault cannot take an amount now, or would keep too much of it; undefined when it can. */
  depositProblem(amount: Usdc): Promise<string | undefined>
  /** The USDC that the wallet holds in the newest final block. */
  balance(): Promise<Usdc>
  /** `previous` are earlier transactions at the same nonce, which the new one replaces. */
  sign(call: VenueCall, nonce: bigint, previous: readonly SignedTransfer[]): Promise<SignedTransfer>
  /** Of a final transaction of step `deposit` or `withdraw`. */
  receiptOf(reference: string): Promise<VenueReceipt>
}

/** By key. A venue is there once the nodes of its network could be reached. */
export type Venues = Readonly<Partial<Record<string, Venue>>>
