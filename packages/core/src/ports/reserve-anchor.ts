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
