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
  /** The vault's shares that the wallet holds. */
  readonly held: bigint
  /** What the vault would pay for as many of the shares as the wallet holds, after its fees, rounded down. */
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

export type VenueStep = 'approve' | 'deposit' | 'redeem' | 'return'

/** One transaction of the wallet. `redeem` and `return` pay to the treasury. */
export interface VenueCall {
  readonly step: VenueStep
  /** In micro-USDC; of `redeem` the vault's shares. */
  readonly amount: bigint
  /** Follows the arguments of the call, so that the transaction is found again. */
  readonly actionId: string
}

/** How many shares the vault would redeem, and for how much. */
export interface Redeemable {
  readonly shares: bigint
  readonly assets: Usdc
}

/** What a transaction really did, by the transfers of USDC and of shares in its receipt, with which the vault's event agrees. */
export interface VenueReceipt {
  readonly assets: Usdc
  readonly shares: bigint
}

/** What a transaction really moved, by transfers of USDC and of shares alone: whatever the vault says about it. */
export interface VenueMovement {
  /** What the treasury got. */
  readonly arrived: bigint
  /** What the wallet got of the vault's shares. Negative when it gave some. */
  readonly shares: bigint
}

/** One market, and the wallet that holds its shares. Only the worker has one. */
export interface Venue extends NonceRail {
  readonly market: VenueMarket
  /** In lower case. One wallet per network, for nothing else. */
  readonly wallet: string
  /** Throws `unavailable` when too few providers show the venue, or they contradict each other. */
  read(shares: bigint): Promise<VenueReading>
  /** How many of some shares the vault would redeem now, by simulation. */
  redeemable(shares: bigint): Promise<Redeemable>
  /** Why the vault cannot take an amount now, or would keep too much of it; undefined when it can. */
  depositProblem(amount: Usdc): Promise<string | undefined>
  /** The USDC that the wallet holds in the newest final block. */
  balance(): Promise<Usdc>
  /** `previous` are earlier transactions at the same nonce, which the new one replaces. */
  sign(call: VenueCall, nonce: bigint, previous: readonly SignedTransfer[]): Promise<SignedTransfer>
  /** Of a final transaction of step `deposit` or `redeem`. */
  receiptOf(reference: string): Promise<VenueReceipt>
  /** Of a final transaction, also one whose receipt is not understood. */
  movedBy(reference: string): Promise<VenueMovement>
}

/** By key. A venue is there once the nodes of its network could be reached. */
export type Venues = Readonly<Partial<Record<string, Venue>>>
