import type { Network } from '@market/kernel/network'
import type { SignedTransfer } from './payout-sender.ts'
import type { ExpiringRail } from './transactions.ts'

/** Publishes a text on a chain, so that everyone reads the same one. */
export interface ReserveAnchor extends ExpiringRail {
  /** The account that signs: the treasury, so that nobody else can publish in its name. */
  readonly account: string
  /** The first attempt is 1. Later ones offer a higher fee. */
  sign(text: string, attempt: number): Promise<SignedTransfer>
}

export type ReserveAnchors = Readonly<Partial<Record<Network, ReserveAnchor>>>

/** Of an EVM treasury over the text of an anchor, from which everyone can recover its address. */
export interface TreasurySignature {
  readonly network: Network
  readonly treasury: string
  /** 65 bytes in hexadecimal (EIP-191, `personal_sign`). */
  readonly signature: string
}

/** Signs with the key of an EVM treasury. */
export interface ReserveSigner {
  readonly network: Network
  readonly treasury: string
  /** Rejects every text that is not one of an anchor. */
  sign(text: string): Promise<TreasurySignature>
}

export type ReserveSigners = Readonly<Partial<Record<Network, ReserveSigner>>>
