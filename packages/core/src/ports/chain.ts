import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** What a payment must be to count. */
export interface TransferQuestion {
  /** A Solana signature or an EVM transaction hash, as the caller wrote it. */
  readonly reference: string
  readonly atLeast: Usdc
  /** Wallets that may have paid, by their keys; anybody when absent. */
  readonly payers?: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
  /** Only what the payer sent: a payment that was brought to the chain for a payer belongs to whoever it was signed for. */
  readonly sentByPayer?: true
}

/** A transfer of USDC into the treasury, as the chain shows it. */
export interface SeenTransfer {
  /** In the one form under which it is stored: lower case for EVM, exact for Solana. */
  readonly reference: string
  readonly amount: Usdc
  /** The wallet's key; null where the chain does not tell who paid. */
  readonly payer: string | null
  readonly at: Date
  /** Height or slot, and the hash by which a reorganisation shows. */
  readonly block: { readonly height: bigint; readonly hash: string }
  /** Whether the chain can no longer take it back. Money may leave only for what is final. */
  readonly final: boolean
  /** What the payer wrote beside it, in hex: what follows the call's arguments, or the one memo; null when nothing. */
  readonly attached: string | null
}

/** A payment of USDC out of the treasury, as the chain shows it. */
export interface ObservedOutgoingTransfer {
  readonly reference: string
  /** The payout it says it is, in its memo or after the call's arguments; null when it is none of this application's. */
  readonly payoutId: string | null
  /** The wallet that got it; null where there were several, or the chain does not tell. */
  readonly payee: string | null
  /** What the treasury lost by the transaction. */
  readonly amount: Usdc
  /** EVM: the nonce it used. Solana: null. */
  readonly nonce: bigint | null
  readonly at: Date
  readonly block: { readonly height: bigint; readonly hash: string }
  readonly final: boolean
}

/** One look at the chain. Trouble in looking throws `unavailable` and is never a verdict. */
export type Observation =
  | { readonly kind: 'ok'; readonly transfer: SeenTransfer }
  | { readonly kind: 'pending'; readonly why: 'unknown' | 'in_mempool' | 'unconfirmed' | 'reorg' }
  | {
      readonly kind: 'rejected'
      readonly why:
        | 'bad_reference'
        | 'failed_on_chain'
        | 'no_transfer'
        | 'underpaid'
        | 'wrong_payer'
        | 'ambiguous_payer'
        | 'own_transfer'
        | 'sent_by_another'
        | 'too_old'
        | 'too_new'
      /** For our log and for the caller, such as the amount that was seen. */
      readonly detail?: string
    }

/** The networks this process is connected to. */
export type Chains = Readonly<Partial<Record<Network, Chain>>>

/** One per network. Everything the market asks of a chain without moving anything. */
export interface Chain {
  readonly network: Network
  readonly treasury: string
  readonly usdc: string
  /** The stored form of a reference, or undefined when it cannot be one on this network. */
  normalize(reference: string): string | undefined
  findTransfer(question: TransferQuestion): Promise<Observation>
  /**
   * Transfers into the treasury after a position, oldest first, and where to go on from. Only what is confirmed; a
   * position never moves past something that may still appear before it.
   */
  transfersAfter(
    position: string | undefined,
    limit: number,
  ): Promise<{ readonly transfers: readonly SeenTransfer[]; readonly position: string }>
  /**
   * Payments out of the treasury after a position, oldest first, up to the newest block: not only what is confirmed,
   * for whoever asks wants to know what must not be paid again. The end is where the position stays, or a page that
   * says so: on a fast chain there is a new block by the time one asks again.
   */
  outgoingTransfersAfter(
    position: string | undefined,
    limit: number,
  ): Promise<{
    readonly outgoingTransfers: readonly ObservedOutgoingTransfer[]
    readonly position: string
    readonly isEnd?: boolean
  }>
  /**
   * The newest final height, and the height after which nothing that was signed until now can take effect any more.
   * On EVM the nonce says that, so there it is no later than the final one.
   */
  heights(): Promise<{ readonly final: bigint; readonly horizon: bigint }>
  /** USDC of an address, as of the newest final block and as of now. */
  balanceOf(address: string): Promise<{ readonly final: Usdc; readonly latest: Usdc }>
  /** Asks every configured node whether it is on this chain and knows this asset with 6 decimals; throws by name if not. */
  checkNodes(): Promise<void>
}
